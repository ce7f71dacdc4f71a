"""What does a reader of BENCHMARKS.md need to know beside the figures?"""

HEAD = """## Scoring and statistics

Written by `python -m bench.score --write`, nothing by hand. `make bench-score` measures and prints
the same tables; `--quick` tries it with small files, `--only A` (or `B`, `cli`, `size`, `stats`)
measures a part. Workloads are generated from a seed into `bench/work`.

Every measurement is a fresh process and the tools take turns, round after round. Seconds are
processor seconds of all threads, unless a column says wall. All tools compute the same nine
measures: nDCG@10 with linear gain, MRR, Recall@5, @10 and @100, MAP, P@5, P@10, Success@5.

A row is the median of n processes, with the smallest and the largest in brackets. *Import* is what
`import` takes before any work. *Inputs* is the memory resident before the clock starts (for dicts
and frames: with them in it), *peak* the most while working. *Values* compares the nine means with
ours, to 1e-6."""

SIZE = """Ours from a file, 1,000 results a query, the same measures; each file is generated, scored
and deleted. The last row repeats the largest file in a process whose data memory (`RLIMIT_DATA`:
heap and private mappings) is limited to less than the file's size, so it can only be streamed."""

NOTES = """## Notes

- *trec_eval* is not in Debian, and the source packages of its Python bindings fetch it while they
  build, so it is not built here. pytrec_eval runs the same C code behind a file reader in Python.
  Where a `trec_eval` is on the PATH it gets a row of its own.
- *Frames*: the others get a pandas frame with text columns, as `read_parquet` gives it, and convert
  it inside the clock. pytrec_eval: `{q: dict(zip(g["doc_id"], g["score"])) for q, g in
  df.groupby("query_id")}`, the usual way; in the row *lists* with `.tolist()` on each column and
  unsorted groups, the fastest way that we found. ir_measures takes the frame as it is. ranx:
  `Run.from_df`, which wants the ids as objects. Ours is measured with a polars frame and with the
  same pandas frame; its import includes polars.
- *Bare parse*: polars reads query, document and score of the file in one call and does nothing
  else; Python splits every line and keeps nothing. What ours takes beyond the first is checking
  (the columns of each line, each document once per query), finding judgments, and settling ties.
- Targets on A compare the work, so nobody's imports count, except that ours loads polars while it
  reads a file. The target on B counts imports, because a user waits for them.
- ranx loads its compiled code from a cache on first use, which is 4 to 6 s of its work on every
  workload; document ids of another length compile again.
- *Values*: the runs hold equal scores, as real runs do; trec_eval, and so ours, ranks them by
  document id, descending. Every query of the judgments is in the run, so how a tool treats missing
  queries does not show here.
- Two shared cores: other work moves a figure by a tenth or more, most of all short ones and wall
  times. The brackets show how much."""
