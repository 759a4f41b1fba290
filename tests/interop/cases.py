"""Cases that are listed before they run, so that one that did not run is noticed.

Each script of this folder has a list of functions. With --list it prints their names; otherwise it runs them and
prints one line for each.
"""

import sys
import traceback


def expect(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, and {wanted!r} was expected")


def expect_raises(kind, call):
    """The exception of this very kind that the call raises."""
    try:
        outcome = call()
    except Exception as error:
        if type(error) is kind:
            return error
        raise AssertionError(f"{type(error).__name__} ({error}), and {kind.__name__} was expected") from error
    raise AssertionError(f"{outcome!r}, and {kind.__name__} was expected")


def _where(error):
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"


def _run_one(case, world):
    try:
        case(world)
    except Exception as error:
        text = " ".join(str(error).split())
        print(f"FAIL {case.__name__}  {world.peer}: {type(error).__name__}: {text} [{_where(error)}]", flush=True)
        return False
    print(f"PASS {case.__name__}  {world.peer}", flush=True)
    return True


def main(cases, open_world):
    """Run all, or list them; `open_world` is a context manager that takes the arguments of the command line."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] == "--list":
        for case in cases:
            print(case.__name__)
        return 0
    with open_world(*arguments) as world:
        good = [_run_one(case, world) for case in cases]
    return 0 if good and all(good) else 1
