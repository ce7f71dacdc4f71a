"""How does a test fail where search got worse?

    @pytest.mark.assay("test_set_v1", baseline="baseline", limits=["Recall@10=5%"])
    def test_search_is_no_worse(assay_check):
        assert assay_check.result["nDCG@10"] > 0.7

The marker runs the test set, or finds the run of our search that has the answer already, and holds
it against the baseline, a stored run or a file of figures. Where the gate does not pass, the test
fails with its ruling before its own lines run; the fixture ``assay_check`` has the run and the
report. ``pytest --assay-tag-baseline`` makes the present runs the baselines instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import pytest

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.client import Client
    from assay.evaluation.gate import GateReport
    from assay.evaluation.result import EvaluationResult
    from assay.model.runs import RunInfo

MARKER = "assay"
Inconclusive: TypeAlias = Literal["fail", "skip", "pass"]
INCONCLUSIVE: tuple[Inconclusive, ...] = get_args(Inconclusive)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a marker asks for; see ``assay.EvaluationRequest`` and ``assay.app.gate.GateRequest``.

    ``options`` are those of the search. ``system`` is another engine (also called ``retriever``, as
    on the command line): ``module:function``, an address, or the function or system itself. Such an
    engine is asked anew each time, since what it searches may have changed while its code did not;
    ``use_cache`` says otherwise. ``inconclusive`` says what becomes of a test that cannot be
    decided.
    """

    test_set: str
    baseline: str = "baseline"
    limits: str | Sequence[str] = ()
    non_inferiority: bool = False
    latency_repeats: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    system: Any = None
    part: Literal["evaluation", "holdout", "all"] | None = None
    use_cache: bool | None = None
    inconclusive: Inconclusive = "fail"


@dataclass(frozen=True, slots=True)
class Checked:
    """A run of a test set, and how it stands against its baseline; None where it became that."""

    run: RunInfo
    result: EvaluationResult
    report: GateReport | None


_CHECKED = pytest.StashKey[Checked]()
_OPENED = pytest.StashKey["Workspace | Client"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the workspace is, and whether its runs become baselines."""
    group = parser.getgroup("assay", "search quality")
    group.addoption("--assay-home", metavar="FOLDER", help="The workspace; as the ini assay_home.")
    group.addoption(
        "--assay-tag-baseline",
        action="store_true",
        help="Tag the runs of marked tests as their baselines instead of comparing them.",
    )
    parser.addini("assay_home", "The folder of the workspace, seen from the root of the tests.")


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marker is for."""
    names = str(inspect.signature(Wanted)).removesuffix(" -> None")
    config.addinivalue_line(
        "markers", f"{MARKER}{names}: run a test set and fail where it is worse than a baseline."
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the workspace."""
    if (opened := config.stash.get(_OPENED, None)) is not None:
        opened.close()


@pytest.fixture(scope="session")
def assay_workspace(pytestconfig: pytest.Config) -> Workspace | Client:
    """The workspace of the tests, or the service that its settings name."""
    return _workspace(pytestconfig)


@pytest.fixture
def assay_check(request: pytest.FixtureRequest) -> Checked:
    """The run that the marker of this test asks for, and its report; nothing fails here."""
    if request.node.get_closest_marker(MARKER) is None:
        raise pytest.UsageError(
            f"{request.node.name}: the fixture assay_check needs the marker: "
            f'@pytest.mark.{MARKER}("TEST SET")'
        )
    return _checked(request.node)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Let a marked test of any kind fail before its own lines, where the gate does not pass."""
    if item.get_closest_marker(MARKER) is None or _is_left_out(item):
        return
    from assay.evaluation.gate import GateOutcome
    from assay.render.gate import gate_text

    checked, wanted = _checked(item), _wanted(item)
    report = checked.report
    if report is None or report.outcome is GateOutcome.PASSED:
        return
    if report.outcome is GateOutcome.INCONCLUSIVE and wanted.inconclusive == "skip":
        pytest.skip(gate_text(report))
    if report.outcome is GateOutcome.FAILED or wanted.inconclusive == "fail":
        pytest.fail(gate_text(report), pytrace=False)


def _is_left_out(item: pytest.Item) -> bool:
    """Whether ``unittest`` will skip the test, which it says only when it is run."""
    places = (getattr(item, name, None) for name in ("obj", "cls"))
    return any(getattr(place, "__unittest_skip__", False) for place in places)


def _wanted(item: pytest.Item) -> Wanted:
    """What the marker of a test asks for; one that cannot be heeded is refused."""
    from assay.errors import UsageError

    if sum(one.name == MARKER for one in item.own_markers) > 1:
        raise UsageError(f"{item.name} has several markers {MARKER}", hint="write a test for each")
    marker = item.get_closest_marker(MARKER)
    assert marker is not None
    names = [one.name for one in fields(Wanted)]
    given = {"system" if name == "retriever" else name: one for name, one in marker.kwargs.items()}
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            hint = f"{meant}it has {', '.join(names)}"
            raise UsageError(f"the marker {MARKER} has no {name}", hint=hint)
    try:
        wanted = Wanted(*marker.args, **given)
    except TypeError as error:
        said = str(error).partition("() ")[2]
        hint = f'@pytest.mark.{MARKER}("TEST SET", baseline="TAG")'
        raise UsageError(f"the marker {MARKER} is {said}", hint=hint) from None
    if wanted.inconclusive not in INCONCLUSIVE:
        raise UsageError(
            f"inconclusive is {wanted.inconclusive!r}", hint=f"one of: {', '.join(INCONCLUSIVE)}"
        )
    return wanted


def _checked(item: pytest.Item) -> Checked:
    """The run and the report of a test, made once."""
    from assay.errors import AssayError

    if (known := item.stash.get(_CHECKED, None)) is not None:
        return known
    problem = ""
    try:
        found = _check(item.config, _wanted(item))
    except AssayError as error:
        problem = f"assay: {error}"
    if problem:  # out here, so that no chain of errors is shown
        pytest.fail(problem, pytrace=False)
    item.stash[_CHECKED] = found
    item.user_properties.append(("assay_run", found.run.run_id))
    return found


def _check(config: pytest.Config, wanted: Wanted) -> Checked:
    """Run the test set, then compare it, or make it the baseline."""
    from assay.app.evaluation_request import EvaluationRequest
    from assay.app.gate import usual_baseline
    from assay.errors import UnknownRunError, UsageError

    workspace = _workspace(config)
    request = EvaluationRequest(
        test_sets=(_place(config, wanted.test_set),),
        options=wanted.options,
        retriever=wanted.system,
        part=wanted.part,
        use_cache=wanted.system is None if wanted.use_cache is None else wanted.use_cache,
    )
    made = workspace.carry_out(request).runs[0]
    run = made.info
    if config.getoption("--assay-tag-baseline"):
        if wanted.baseline.endswith(".json"):
            raise UsageError(
                f"{wanted.baseline} is a file, and a run cannot be tagged with it",
                hint=f"assay eval show {run.run_id} --json > {wanted.baseline}",
            )
        return Checked(workspace.runs.tag(run.run_id, wanted.baseline), made.result, None)
    try:
        report = workspace.gate(
            _place(config, wanted.baseline),
            run.run_id,
            limits=wanted.limits,
            non_inferiority=wanted.non_inferiority,
            latency_repeats=wanted.latency_repeats,
        )
    except UnknownRunError as error:
        other = usual_baseline(workspace, run.run_id)
        raise UsageError(
            f"{error.message}: there is nothing to compare the run with",
            hint="pytest --assay-tag-baseline makes this run the baseline"
            + (f"; assay eval tag {other} {wanted.baseline} an earlier one" if other else ""),
        ) from None
    return Checked(run, made.result, report)


def _place(config: pytest.Config, name: str) -> str:
    """A name; the whole path where it is that of a file below the root of the tests."""
    path = config.rootpath / name
    return str(path) if path.exists() else name


def _workspace(config: pytest.Config) -> Workspace | Client:
    """The workspace, opened once for all tests."""
    if _OPENED not in config.stash:
        from assay.settings import configure

        home = config.getoption("--assay-home") or config.getini("assay_home") or None
        flags = {} if home is None else {"home": config.rootpath / Path(home)}
        settings = configure(flags, folder=config.rootpath)
        if settings.server is not None and home is None:
            from assay.client import connect

            config.stash[_OPENED] = connect(settings)
        else:
            from assay.app.workspace import Workspace

            config.stash[_OPENED] = Workspace(settings)
    return config.stash[_OPENED]
