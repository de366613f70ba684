"""The command `pairhmm`, and `python -m pairhmm`."""

from pairhmm.cli.startup import end_at_once, handle_signals, with_large_frame


@with_large_frame
def main() -> None:
    """Run the command line and exit."""
    handle_signals(end_at_once)
    # It takes most of the time that a command needs to start.
    from pairhmm.cli.main import main

    main()


if __name__ == "__main__":
    main()
