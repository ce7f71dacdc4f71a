"""Do profiles say how they cut, and change their version when they cut differently?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.errors import UsageError
from assay.ingest import PROFILES, Profile, profile_named, tokens


def test_sizes_are_those_of_the_contract() -> None:
    sizes = {name: (profile.size, profile.overlap) for name, profile in PROFILES.items()}
    assert sizes["imrad"] == (450, 50)
    assert sizes["registry"] == (300, 0)
    assert sizes["label"] == (400, 30)
    assert sizes["text"] == (450, 50)
    assert PROFILES["transcript"].unit == "turn"
    assert not PROFILES["transcript"].join
    assert all(profile.help for profile in PROFILES.values())


def test_versions_are_fixed() -> None:
    """A change here means that stored chunks no longer match: raise the profile's version."""
    assert {profile.chunker_version for profile in PROFILES.values()} == {
        "imrad-1-92a5bfc9",
        "citation-1-10d436f0",
        "registry-1-a93a3408",
        "label-1-9195b80c",
        "transcript-1-ce96d59c",
        "transcript-joined-1-0f3c7724",
        "text-1-01bc3f94",
        "whole-1-c5211e53",
    }


def test_the_version_follows_every_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    one = PROFILES["imrad"]
    versions = {
        one.chunker_version,
        replace(one, size=300).chunker_version,
        replace(one, overlap=10).chunker_version,
        replace(one, join=False).chunker_version,
        replace(one, version=2).chunker_version,
        replace(one, unit="turn").chunker_version,
    }
    assert len(versions) == 6
    assert replace(one, help="other words").chunker_version == one.chunker_version
    monkeypatch.setattr(tokens, "VERSION", 99)
    assert replace(one, size=299).chunker_version != "imrad"


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-5, 0), (7, 0), (100, 50), (100, -1)])
def test_what_cannot_work_is_refused(size: int, overlap: int) -> None:
    with pytest.raises(UsageError, match="cannot overlap"):
        Profile("mine", 1, size, overlap)


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no profile 'x' .*auto, imrad, citation"):
        profile_named("x")
