"""How do finished weights get into the package?

    python -m training.ship assay-bio assay-bio.safetensors
    python -m training.ship assay-bio-rerank WORK/out/rerank-0.npz
    python -m training.ship assay-bio-judge WORK/out/judge.npz

Puts the file to where the package keeps its models and prints what the card and the recorded
answers have to say of it: paste the files into ``src/assay/encode/catalog.py`` and the answers into
``src/assay/encode/canonical.py``; ``tests/unit/encode`` holds them to each other.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.encode import canonical
from assay.encode.catalog import CARDS
from assay.encode.shelf import PACKAGED, Shelf, checksum
from training.export import save

BOTH = ("assay-bio", "assay-bio-fast")


def main(arguments: list[str]) -> None:
    """Put the weights in place, and print files and answers as Python."""
    name, source = arguments[0], Path(arguments[1])
    card = CARDS[name]
    target = PACKAGED / card.folder / card.weights
    if source.suffix == ".npz":
        save(target, dict(np.load(source)))
    else:
        shutil.copyfile(source, target)
    print(f"            {checksum(target)!r},")
    for model in BOTH if name in BOTH else (name,):
        # whatever the card says of the files that it had before
        CARDS[model] = replace(CARDS[model], files=())
        said = canonical.answer(model, Shelf(package=PACKAGED))
        print(f'    "{model}": Canonical(\n        {said.numbers},\n        {said.terms},')
        print("        tolerance=QUANTISED,\n    ),")


if __name__ == "__main__":
    main(sys.argv[1:])
