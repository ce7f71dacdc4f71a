"""Does each rule of search and of answers earn its place?

``python -m reproduce.rules [RULE ...] [--sets NAME ...]`` switches off one rule after the other and
asks the questions again that it touches; ``none`` switches off nothing. It prints how many first
ten results and how many answers change, and each figure that differs. Indexes are built once, and
components are asked once a query. A rule that changes nothing in any set is a candidate for
deletion.
"""

from __future__ import annotations

import argparse
import functools
import gc
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from assay.app.answers import answer_from
from assay.app.workspace import Workspace
from assay.ingest import read_corpus
from assay.ingest.corpus import Pair
from assay.search.request import SearchOptions
from assay.search.searcher import Searcher
from assay.testsets.load import load_test_set, shipped_folder
from reproduce.answering import Given, plain
from reproduce.answering import figures as answer_figures
from reproduce.data import indexed
from reproduce.experiment import HERE
from reproduce.groups import found_by
from reproduce.questions import Question, questions, text
from reproduce.trust import DEPTH, Asked, collection, share
from reproduce.trust import figures as search_figures

SEARCHES = {"trust": "dev", "heldout": "test", "unseen": "test", "unseen hand": "hand"}
ANSWERS = {
    "answers": "dev",
    "heldout_answers": "test",
    "unseen_answers": "test",
    "unseen_answers hand": "hand",
}
SHIPPED, SHIPPED_SETS = "shipped", ("test_set_v1", "test_set_v1_extras")
SHOWN = (
    *("right subject first", "another subject above", "others lifted", "nothing: said so"),
    *("nothing: said wrongly", "nDCG@10", "several: each in ten", "table in five"),
)


def _first(first: Any, *_: Any, **__: Any) -> Any:
    """What a rule was given."""
    return first


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _none(*_: Any, **__: Any) -> Iterator[Any]:
    return iter(())


NO, NOTHING = _always(False), _always(())
RULES: Mapping[str, tuple[tuple[str, Any], ...]] = {
    # search: the order of results
    "about": (("assay.search.ranking.lower_others", _first),),
    "about: speaking": (("assay.search.about._Documents.speaking", _always(set())),),
    "about: in passing": (("assay.search.about.is_in_passing", NO),),
    "about: heading": (("assay.search.about._is_headed", NO),),
    "about: called below": (("assay.search.about._called_below", _always([])),),
    "names: trade names": (("assay.search.synonyms.Synonyms.names", NOTHING),),
    "names: classes": (("assay.search.synonyms.Synonyms.classes", NOTHING),),
    "other_kinds": (("assay.search.ranking.lower_other_kinds", _first),),
    "beside": (("assay.search.ranking.keep_words_together", _first),),
    "beside: first place": (("assay.search.beside.FEW", 0),),
    "beside: mentions": (("assay.search.ranking.mentions", _always(NO)),),
    "exact": (("assay.search.ranking.lift_exact", _first),),
    "exact: names first": (("assay.search.ranking.place_names_first", _first),),
    "exact: short names": (("assay.search.ranking.with_short_names", _first),),
    "exact: within drugs": (("assay.search.ranking.within_drugs", _first),),
    "boost: a place each": (("assay.search.boost.apply._place_sections", _always(None)),),
    "boost: subject first": (("assay.search.boost.apply._place_subject", _always(None)),),
    "boost: main section": (("assay.search.boost.apply._main", _always(frozenset())),),
    "boost: of its own": (("assay.search.boost.apply.OF_ITS_OWN", frozenset()),),
    "boost: topics": (("assay.search.boost.apply._TOPICS", frozenset()),),
    "boost: gentle": (("assay.search.boost.apply.GENTLE", 0.0),),
    "boost: compounds": (("assay.search.boost.compound.Joints._begins_compound", NO),),
    "boost: hyphens": (("assay.search.boost.compound.Joints.is_part", NO),),
    "subject: title": (("assay.search.subject.TITLE_WORDS", 1_000),),
    "subject: own label": (("assay.search.subject._is_own", NO),),
    "subject: best document": (("assay.search.subject._of_the_best", lambda named, *_: [*named]),),
    "reading: joined": (("assay.search.reading._joined", _always({})),),
    "reading: parted": (("assay.search.reading._parted", _always({})),),
    "reading: renamed": (("assay.search.reading._renamed", _always({})),),
    "reading: asking": (("assay.search.reading._asking", _always({})),),
    "reading: completed": (("assay.search.reading._completed", _always({})),),
    "reading: better": (("assay.search.reading._better", _always({})),),
    # kinds
    **{
        f"kinds: {name}": ((f"assay.evidence.kinds._{name}", _none),)
        for name in ("numbered", "signs", "grouped", "begun", "named", "denied", "coded", "people")
    },
    # the floor
    "floor: lacking": (("assay.evidence.floor._lacking", NOTHING),),
    "floor: rarest": (("assay.evidence.floor._is_without_rarest", NO),),
    "floor: side by side": (("assay.evidence.floor.has_side_by_side", NO),),
    "floor: all words": (("assay.evidence.floor.has_all", NO),),
    "floor: synonyms": (("assay.evidence.floor._says_most", NO),),
    "floor: serving": (("assay.evidence.floor._serving", _first),),
    "floor: names nothing": (("assay.evidence.floor.names_nothing", NO),),
    "floor: was given": (("assay.evidence.floor._was_given", NO),),
    "floor: product": (("assay.evidence.floor._has_product", NO),),
    "floor: alias": (("assay.evidence.floor.is_alias", NO),),
    "floor: given in": (("assay.evidence.floor.is_given_in", NO),),
    "floor: certain": (("assay.evidence.floor._is_certain", _always(True)),),
    "together": (("assay.evidence.floor.why_apart", _always("")),),
    "together: mentioned": (("assay.evidence.floor.only_mentioned", _always("")),),
    "together: another kind": (("assay.evidence.together._is_of_another_kind", NO),),
    "together: written": (("assay.evidence.together._not_written", _always("")),),
    "together: product": (("assay.evidence.together._has_product", NO),),
    "together: passing": (("assay.evidence.together.IN_PASSING", frozenset()),),
    # which passages may answer
    "gather: speaker": (("assay.evidence.gather._by_speaker", lambda _, passages: passages),),
    "gather: language": (("assay.evidence.gather._in_language", lambda _, passages: passages),),
    "gather: short names": (("assay.evidence.gather._short", NOTHING),),
    "gather: specific": (("assay.evidence.gather._specific", NOTHING),),
    "gather: opposite": (("assay.evidence.gather._says_the_opposite", NO),),
    "gather: other kind": (("assay.evidence.gather.opposites_asked", NOTHING),),
    "gather: sex": (("assay.evidence.gather.is_of_other_sex", NO),),
    "gather: classes": (
        ("assay.evidence.gather.called_beside", _always({})),
        ("assay.evidence.gather._with_classes", _first),
    ),
    "gather: treats": (("assay.evidence.gather._may_say_what_treats", _always(True)),),
    "gather: label of": (("assay.evidence.gather._is_label_of", NO),),
    "gather: trial of": (("assay.evidence.gather._is_trial_of", _always(True)),),
    "gather: of more": (("assay.evidence.gather._is_of_more", NO),),
    "gather: with all": (("assay.evidence.gather._with_all", _always([])),),
    "gather: condition": (
        (
            "assay.evidence.gather._of_condition",
            lambda _, __, passages: frozenset(one.chunk.doc_id for one in passages),
        ),
    ),
    "gather: alias": (("assay.evidence.gather.is_alias", NO),),
    "gather: given in": (("assay.evidence.gather.is_given_in", NO),),
    "gather: was given": (("assay.evidence.gather.was_given", NO),),
    "gather: of another": (("assay.evidence.gather.is_of_another", NO),),
    "gather: must say": (("assay.evidence.gather._must_say", NOTHING),),
    "gather: exclusions": (
        ("assay.evidence.gather.without_exclusions", lambda chunk, _: chunk.text),
    ),
    "gather: treated": (
        ("assay.evidence.gather._CONDITION", mock.Mock(search=_always(None), finditer=_none)),
    ),
    "gather: groups": (("assay.evidence.gather.without_groups", _first),),
    "gather: unsaid": (("assay.answers.extractive.unsaid", _always("")),),
    "gather: no drug": (("assay.evidence.gather._NO_DRUG", mock.Mock(sub=lambda _, text: text)),),
    "wording": (
        ("assay.answers.extractive.in_words_of", lambda _, question: question),
        ("assay.evidence.guard.in_words_of", lambda _, question: question),
    ),
    # which sentences answer
    "answer: facts": (("assay.answers.extractive.states_all", _always(True)),),
    "answer: sides": (("assay.answers.extractive.sides_asked", _always(frozenset())),),
    "answer: for whom": (("assay.answers.extractive._for_whom", _always(frozenset())),),
    "answer: age": (("assay.answers.extractive.age_asked", _always(None)),),
    "answer: of first": (("assay.answers.extractive._of_first", lambda _, __, rows: rows),),
    "answer: of age": (("assay.answers.extractive._of_age", lambda _, rows: rows),),
    "answer: of event": (("assay.answers.extractive._of_event", lambda _, rows: rows),),
    "answer: of use": (("assay.answers.extractive._of_use", lambda _, rows: rows),),
    "answer: of arm": (("assay.answers.extractive._of_arm", lambda _, __, rows: rows),),
    "answer: dose of others": (("assay.answers.extractive._is_of_others", NO),),
    "answer: section": (("assay.answers.extractive._worth_of_section", _always(0.0)),),
    "answer: animals": (("assay.answers.extractive.is_of_animals", NO),),
    "answer: gives": (("assay.answers.extractive._gives", _always(True)),),
    "answer: nobody": (("assay.answers.extractive._is_of_nobody", NO),),
    "answer: another code": (("assay.answers.extractive._names_another", NO),),
    "answer: another drug": (("assay.answers.extractive._is_of_another", NO),),
    "answer: may be quoted": (("assay.answers.extractive._may_be_quoted", _always(True)),),
    "answer: other names": (("assay.answers.extractive.names_in", _always({})),),
    "answer: goes on": (("assay.answers.extractive._goes_on_to_another", NO),),
    **{
        f"answer: {name.strip('_').lower()} weight": ((f"assay.answers.extractive.{name}", 0.0),)
        for name in (
            *("_CONTEXT", "_RANK", "_REPEATED", "_DOSE_OF_OTHERS", "_OF_OTHERS", "_SAYS_HOW_MUCH"),
            *("_OF_OTHER_STUDIES", "_DEFINED", "_ASKED_FOR", "_LACKS_NAME", "_LACKS_DISEASE"),
            *("_SAYS_WITH_WHAT", "_OF_OTHER_DRUGS"),
        )
    },
    "answer: named weight": (("assay.answers.extractive._NAMED", 1.0),),
}


OF_ANSWERS = ("gather", "wording", "answer")  # which leave the search as it is


@dataclass(frozen=True, slots=True)
class Row:
    """A question and what was said; ``shown`` is what a person sees first."""

    asked: Asked | Given
    shown: object


class Bench:
    """Open workspaces, the questions that are asked in them, and which rule touches which.

    ``touched`` has the questions for which a rule makes a difference when it is called.
    """

    def __init__(self, data: Path, names: Sequence[str], rules: Sequence[str]) -> None:
        self._stack = ExitStack()
        self._data = data
        self._names = names
        self._rules = rules
        self._homes: dict[str, tuple[Workspace, list[Pair]]] = {}
        self._at = ("", "")
        self.touched: dict[str, set[tuple[str, str]]] = {}
        self.rows: dict[str, dict[str, Row]] = {}

    def __enter__(self) -> Bench:
        with ExitStack() as spies:
            for rule in self._rules:
                for target, instead in RULES[rule]:
                    real = _found(target)
                    if callable(real):
                        spies.enter_context(mock.patch(target, self._spy(rule, real, instead)))
            for name in self._names:
                self.rows[name] = {}
                for one in self._questions(name):
                    self._at = name, one.ask
                    if self._rules:
                        _forget()
                    self.rows[name][one.ask] = self._asked(name, one)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _spy(
        self, rule: str, real: Callable[..., Any], instead: Callable[..., Any]
    ) -> Callable[..., Any]:
        def spy(*args: Any, **named: Any) -> Any:
            found, other = real(*args, **named), instead(*args, **named)
            if isinstance(found, Iterator):
                found, other = (*found,), (*other,)
            if found is None or (found is not other and found != other):  # None: changes arguments
                self.touched.setdefault(rule, set()).add(self._at)
            return found

        return spy

    def without(self, rule: str) -> dict[str, dict[str, Row]]:
        """What every set comes to without a rule."""
        is_value = any(not callable(_found(target)) for target, _ in RULES[rule])
        of_answers = rule.startswith(OF_ANSWERS)
        touched = self.touched.get(rule, set())
        found = {name: {**rows} for name, rows in self.rows.items()}
        with ExitStack() as stack:
            for target, instead in RULES[rule]:
                stack.enter_context(mock.patch(target, instead))
            _forget()
            for name in self._names:
                for one in self._questions(name):
                    if (name, one.ask) in touched or (is_value and not of_answers):
                        found[name][one.ask] = self._asked(name, one, again=of_answers)
                    elif is_value and name not in SEARCHES:
                        found[name][one.ask] = self._asked(name, one, again=True)
        _forget()
        return found

    def figures(self, name: str, rows: Mapping[str, Row]) -> Mapping[str, float]:
        """The figures of a set."""
        if name in SEARCHES:
            each = [row.asked for row in rows.values() if isinstance(row.asked, Asked)]
            figures = search_figures(each, self._home(name)[1])
            return {key: figures[key] for key in SHOWN}
        given = [row.asked for row in rows.values() if isinstance(row.asked, Given)]
        figures = answer_figures(given)
        if name == SHIPPED:  # whose questions have no documents
            return {"as it should be": share([_is_as_it_should_be(one) for one in given])}
        return figures

    def _questions(self, name: str) -> Sequence[Question]:
        if name == SHIPPED:
            return [
                Question(
                    query.query_text,
                    name,
                    "",
                    str(query.expect),
                    answer=tuple(query.must_contain),
                    says="|".join(query.forbidden),
                )
                for one in SHIPPED_SETS
                for query in load_test_set(one).queries
            ]
        part = SEARCHES.get(name) or ANSWERS[name]
        return [one for one in questions(_path(name)) if one.part == part]

    def _asked(self, name: str, one: Question, *, again: bool = False) -> Row:
        home, _ = self._home(name)
        if name in SEARCHES:
            response = found_by(home, one.ask, SearchOptions(k=DEPTH))
            best = (hit.chunk.chunk_id for hit in response.results[:10])
            return Row(
                Asked(one, response), (response.nothing_about, response.only_mentioned, *best)
            )
        if again:
            known = self.rows[name][one.ask].asked
            assert isinstance(known, Given)
            assert known.answered.response is not None
            response = known.answered.response
        else:
            response = found_by(home, one.ask, SearchOptions())
        answered = answer_from(home, one.ask, response)
        return Row(Given(one, answered), answered.answer)

    def _home(self, name: str) -> tuple[Workspace, list[Pair]]:
        over = name.partition(" ")[0]
        if name in ANSWERS:
            over = text(_path(name), "over")
        if over not in self._homes:
            pairs = (
                [*read_corpus(shipped_folder().parent / "corpus")]
                if over == SHIPPED
                else collection(HERE / f"{over}.yaml", self._data)
            )
            self._homes[over] = self._stack.enter_context(indexed(over, pairs)), pairs
        return self._homes[over]


def _path(name: str) -> Path:
    return HERE / f"{name.partition(' ')[0]}.yaml"


def _found(target: str) -> Any:
    owner, _, name = target.rpartition(".")
    return getattr(pkgutil.resolve_name(owner), name)


def _is_as_it_should_be(one: Given) -> bool:
    """Whether a shipped question has all that it must have and nothing that it must not."""
    if one.question.kind == "refusal":
        return one.refused
    said = plain(one.answered.answer.text)
    forbidden = filter(None, one.question.says.split("|"))
    return all(plain(text) in said for text in one.question.answer) and not any(
        plain(text) in said for text in forbidden
    )


_MEMORIES: list[Any] = []


def _forget() -> None:
    """Empty every memory of this process that a rule may have filled."""
    if not _MEMORIES:
        kinds = functools._lru_cache_wrapper
        _MEMORIES.extend(one for one in gc.get_objects() if isinstance(one, kinds))
    for one in _MEMORIES:
        if (one.__module__ or "").startswith(("assay.search", "assay.evidence", "assay.answers")):
            one.cache_clear()


def differences(bench: Bench, after: Mapping[str, Mapping[str, Row]]) -> Iterator[str]:
    """What a rule changes in each set, in words."""
    for name, rows in after.items():
        before = bench.rows[name]
        changed = [ask for ask, row in rows.items() if row.shown != before[ask].shown]
        if changed:
            was, now = bench.figures(name, before), bench.figures(name, rows)
            moved = [f"{key} {was[key]:g} → {now[key]:g}" for key in now if now[key] != was[key]]
            told = ", ".join(moved) or f"no figure ({'; '.join(changed[:3])})"
            yield f"{name}: {len(changed)} of {len(rows)} changed; {told}"


def main() -> int:
    """Switch off what was asked for."""
    from reproduce.run import DATA

    every = [*SEARCHES, *ANSWERS, SHIPPED]
    parser = argparse.ArgumentParser(description="Does each rule earn its place?")
    parser.add_argument("rules", nargs="*", help="rules, or how their names begin; all without")
    parser.add_argument("--sets", nargs="*", choices=every, default=every)
    options = parser.parse_args()
    chosen = [one for one in RULES if one.startswith(tuple(options.rules or ("",)))]
    data = Path(os.environ.get("ASSAY_SHARED_DATA", DATA))
    never = mock.patch.object(Searcher, "_remembered", _always(None))
    with never, Bench(data, options.sets, chosen) as on:
        for name, rows in on.rows.items():
            said = (f"{key} {value:g}" for key, value in on.figures(name, rows).items())
            print(f"{name}: {', '.join(said)}", flush=True)
        for rule in chosen:
            found = [*differences(on, on.without(rule))]
            print(f"{rule}:{'' if found else ' changes nothing'}", flush=True)
            for line in found:
                print(f"    {line}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
