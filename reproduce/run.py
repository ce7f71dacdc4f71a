"""Do the figures come out again on this machine?

``python -m reproduce.run [NAME ...] [--data FOLDER]`` carries out each experiment
(``reproduce/*.yaml``) and compares with the expected values to 4 decimals. It ends with exit code 1
where a figure differs, and says where that may come from the processor; with ``--write`` it puts
what it found into the files instead. The collections are not part of the repository; experiments
whose collection is absent are skipped and say so.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from reproduce import (
    answering,
    boosting,
    given_runs,
    given_vectors,
    judging,
    labels,
    sampled,
    searching,
    shipped,
    tables,
    trials,
    trust,
)
from reproduce.experiment import HERE, Experiment, experiments, this_processor, write
from reproduce.outcome import Outcome

DATA = HERE.parent.parent / "shared" / "data"
KINDS: Mapping[str, Callable[[Experiment, Path], Iterator[Outcome]]] = {
    "answers": answering.run,
    "search": searching.run,
    "boosts": boosting.run,
    "judging": judging.run,
    "labels": labels.run,
    "sampled": sampled.run,
    "given-runs": given_runs.run,
    "given-vectors": given_vectors.run,
    "shipped": shipped.run,
    "tables": tables.run,
    "trials": trials.run,
    "trust": trust.run,
}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Do the figures come out again?")
    parser.add_argument("names", nargs="*", help="experiments to run; all without a name")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("ASSAY_SHARED_DATA", DATA))
    )
    parser.add_argument("--write", action="store_true", help="expect from now on what is found")
    options = parser.parse_args()
    differences = 0
    for experiment in experiments(options.names):
        folders = [options.data / corpus for corpus in experiment.corpora]
        absent = [str(folder) for folder in folders if not folder.is_dir()]
        if absent:
            print(f"{experiment.name}: skipped, no collection at {', '.join(absent)}")
            continue
        print(experiment.name, flush=True)
        outcomes, before = [], differences
        for outcome in KINDS[experiment.kind](experiment, options.data / experiment.corpus):
            differences += outcome.report()
            outcomes.append(outcome)
        if differences > before and experiment.processor not in {"", this_processor()}:
            print(
                f"  {differences - before} figures differ; they are those of a processor "
                f"{experiment.processor}, and this one is {this_processor()} (design/022)"
            )
        if options.write:
            write(experiment, {one.run.name: one.found for one in outcomes})
    print("all figures are as expected" if not differences else f"{differences} figures differ")
    return 1 if differences and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
