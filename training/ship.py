"""How do finished weights get into the package?

    python -m training.ship assay-bio.safetensors

Copies the file to where the package keeps its models and prints what the card and the recorded
answers have to say of it: paste the files into ``src/assay/encode/catalog.py`` and the answers into
``src/assay/encode/canonical.py``; ``tests/unit/encode/test_hybrid.py`` holds them to each other.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from assay.encode import canonical
from assay.encode.catalog import CARDS
from assay.encode.shelf import PACKAGED, Shelf, checksum

MODELS = ("assay-bio", "assay-bio-fast")


def main(arguments: list[str]) -> None:
    """Copy the weights, and print files and answers as Python."""
    card = CARDS[MODELS[0]]
    folder = PACKAGED / card.folder
    shutil.copyfile(Path(arguments[0]), folder / card.weights)
    print("        files=(")
    for name in (card.weights, "tokenizer.json"):
        print(f"            {checksum(folder / name)!r},")
    print("        ),")
    for name in MODELS:  # whatever the card says of the files that it had before
        CARDS[name] = replace(CARDS[name], files=())
        said = canonical.answer(name, Shelf(package=PACKAGED))
        print(f'    "{name}": Canonical(\n        {said.numbers},\n        {said.terms},')
        print("        tolerance=QUANTISED,\n    ),")


if __name__ == "__main__":
    main(sys.argv[1:])
