"""`python -m pairhmm`."""

from pairhmm.cli.main import main

if __name__ == "__main__":
    main()
