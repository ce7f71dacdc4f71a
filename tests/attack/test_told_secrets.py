"""Do keys in addresses and identifiers in queries stay out of what is kept?"""

from __future__ import annotations

import pytest

from assay.model.identifiers import scrub
from assay.model.secrets_of import hidden_address, hidden_values


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:pw@host/search", "https://***@host/search"),
        ("https://pw@host:8080/search?k=5", "https://***@host:8080/search?k=5"),
        ("https://host/s?api_key=abc&k=5", "https://host/s?api_key=***&k=5"),
        ("https://host/s?k=5&X-Amz-Signature=abc", "https://host/s?k=5&X-Amz-Signature=***"),
        ("https://host/s?access_token=a%20b", "https://host/s?access_token=***"),
        ("https://a:b@c:d@host/s", "https://***@host/s"),
        ("https://host/s", "https://host/s"),
        ("mine:search", "mine:search"),
        ("http://[::1", "***"),
    ],
)
def test_addresses_are_kept_without_their_keys(address: str, shown: str) -> None:
    assert hidden_address(address) == shown


def test_headers_are_kept_without_their_keys() -> None:
    told = {
        "Authorization": "Bearer abc",
        "X-Api-Key": "${SEARCH_KEY}",
        "accept": "application/json",
        "nested": [{"password": "x"}],
    }
    assert hidden_values(told) == {
        "Authorization": "***",
        "X-Api-Key": "${SEARCH_KEY}",
        "accept": "application/json",
        "nested": [{"password": "***"}],
    }


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("nhs 943 476 5919 pain", "[number] pain"),
        ("NHS number: 943-476-5919", "[number]"),
        ("nhs no. 9434765919", "[number]"),
        ("9434765919", "[number]"),
        ("call 555-123-4567", "call [number]"),
        ("(555) 123-4567 x12", "[number]"),
        ("555\u2013123\u20134567 ext. 9", "[number]"),
        ("+44 20 7946 0958 fever", "[number] fever"),
        ("john.o'neil+tag@mail.example.co.uk pain", "[email] pain"),
        ("dob 12/03/1985", "dob [date]"),
        ("DOB: 12.03.85 fever", "[date] fever"),
        ("born 19850312", "[date]"),
        ("born on 1985-03-12", "born on [date]"),
        ("12-Mar-1985", "[date]"),
        ("12th March 1985 fracture", "[date] fracture"),
        ("March 12th, 1985", "[date]"),
        ("1985/03/12", "[date]"),
        ("MRN: A-123456", "[number]"),
        ("mrn 12 34 56 78", "[number]"),
        ("hospital number 123456", "[number]"),
        ("patient id 99887766 cough", "[number] cough"),
    ],
)
def test_no_part_of_an_identifier_is_left(text: str, left: str) -> None:
    assert scrub(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "aspirin 100 mg twice daily",
        "NCT01234567 outcomes",
        "PMID: 12345678",
        "HbA1c 7.5 to 8.0",
        "patient with 2 strokes",
        "hospital stay of 5 days",
        "children born at 32 weeks",
        "HLA-B*57:01",
        "2019 guideline",
    ],
)
def test_what_is_asked_about_stays(text: str) -> None:
    assert scrub(text) == text
