"""What does ``python -m assay`` do? The same as the command ``assay``."""

from assay.cli.main import main

if __name__ == "__main__":
    main()
