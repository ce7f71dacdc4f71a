"""What does a search take? Its options as parameters of an address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from assay.app.search import MODEL_NAME
from assay.http.wire.base import Json, QueryText, Switch
from assay.options import Kind, Maybe, Option, Several, Text, is_switch, several
from assay.search.request import ANSWER_NAMES, EVALUATION_NAMES, SEARCH_NAMES, SEARCH_OPTIONS

MOST_VALUES, MOST_LETTERS, LONGEST_TEXT = 100, 200, 2_000
"""Values of one filter, characters of each, and characters of any other text."""


def _capped(kind: Kind) -> Kind:
    """The same kind with a limit to what strangers may send; on this machine there is none."""
    if isinstance(kind, Several):
        of = replace(kind.of, most=MOST_LETTERS) if isinstance(kind.of, Text) else kind.of
        return replace(kind, of=of, most=kind.most or MOST_VALUES)
    if isinstance(kind, Maybe):
        return replace(kind, of=_capped(kind.of))
    if isinstance(kind, Text):
        return replace(kind, most=kind.most or LONGEST_TEXT)
    return kind


def _read(one: Option, value: Any) -> Any:
    """A parameter of an address, by the rule that holds on every surface."""
    form = one.kind.form
    try:
        if is_switch(one.kind):
            form = "true or false"
            if value not in ("true", "false"):
                raise ValueError(value)
        if one.name == "reranker":
            form = "the name of a model"  # never the path of a folder
            if not MODEL_NAME.fullmatch(value):
                raise ValueError(value)
        return one.kind.read(value) if isinstance(value, str) else one.kind.accept(value)
    except ValueError:
        raise PydanticCustomError("not_allowed", "must be {form}", {"form": form}) from None


def parameters(options: Iterable[Option]) -> Any:
    """The fields of a model, one for each option."""
    return {
        option.name: (
            Annotated[
                list[str] if several(option.kind) else str | None,
                PlainValidator(partial(_read, option)),
                WithJsonSchema(option.kind.schema()),
            ],
            Field([] if several(option.kind) else None, description=option.help),
        )
        for option in (replace(one, kind=_capped(one.kind)) for one in options)
    }


def _named(names: Sequence[str]) -> Any:
    return parameters(SEARCH_OPTIONS[name] for name in names)


class Parameters(BaseModel):
    """Options of a search in an address; the settings say what is not given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def changes(self) -> Json:
        """The options that were given, as ``search.request.changed`` takes them."""
        given = ((name, getattr(self, name, None)) for name in SEARCH_NAMES)
        return {name: value for name, value in given if value not in (None, [])}


if TYPE_CHECKING:

    class SearchParameters(Parameters):
        """The parameters of ``GET /v1/search``."""

        q: str
        generation: str | None
        k: int | None
        offset: int | None

    class WhyParameters(SearchParameters):
        """The parameters of ``GET /v1/search/why``."""

        document: str

    class AnswerParameters(Parameters):
        """The parameters of ``GET /v1/answer``."""

        q: str
        judged: bool

    class RetrievalParameters(Parameters):
        """How a test set is searched."""

else:
    SearchParameters = create_model(
        "SearchParameters",
        __base__=Parameters,
        q=(QueryText, Field(description="What to look for, in plain words.")),
        generation=(
            str | None,
            Field(
                None,
                max_length=64,
                description="Generation of the first page; refused if the index has changed since.",
            ),
        ),
        **_named(SEARCH_NAMES),
    )
    WhyParameters = create_model(
        "WhyParameters",
        __base__=SearchParameters,
        document=(
            str,
            Field(min_length=1, max_length=128, description="The document or chunk to look for."),
        ),
    )
    AnswerParameters = create_model(
        "AnswerParameters",
        __base__=Parameters,
        q=(QueryText, Field(description="A question, in plain words.")),
        judged=(
            Switch,
            Field(
                False,
                description="Let the configured judge say of each claim whether its sources "
                "support it; needs the scope evaluate.",
            ),
        ),
        **_named(ANSWER_NAMES),
    )
    RetrievalParameters = create_model(
        "RetrievalParameters", __base__=Parameters, **_named(EVALUATION_NAMES)
    )
