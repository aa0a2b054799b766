"""The search for a bus that nobody named, as `strata` does it."""

import os
import pathlib
import re
import socket
import stat

from .errors import BusError

MANIFEST = "strata.yaml"


def found_socket(temporary: str = "/tmp") -> str:
    """Returns the path of the only bus in this user's default folders.

    Of several it is the one of the app of `strata.yaml` in the working folder. Blocks on the file
    system. Raises BusError `unavailable` if it isn't clear.
    """
    live = [path for folder, app in _folders(pathlib.Path(temporary)) for path in _sockets(folder, app) if _is_live(path)]
    if len(live) == 1:
        return str(live[0])
    if not live:
        text = "no bus is found: set STRATA_SOCKET to its socket's path, or start one with `strata up`"
        raise BusError("unavailable", text, ran="no")
    app = _app_here()
    ours = [path for path in live if path.stem == app] or [path for path in live if path.stem.startswith(f"{app}@")]
    if app is not None and len(ours) == 1:
        return str(ours[0])
    names = ", ".join(map(str, live))
    text = f"there are several buses: set STRATA_SOCKET to one of {names}, or work beside the app's {MANIFEST}"
    raise BusError("unavailable", text, ran="no")


def _folders(temporary: pathlib.Path) -> list[tuple[pathlib.Path, str | None]]:
    """Returns the folders, each with the app whose sockets count in it; None for all."""
    user = os.geteuid()
    folders: list[tuple[pathlib.Path, str | None]] = [(temporary / f"strata-{user}", None)]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        folders.insert(0, (pathlib.Path(runtime) / "strata", None))
    prefix = f"strata-{user}-"
    folders += [(folder, folder.name.removeprefix(prefix)) for folder in sorted(temporary.glob(f"{prefix}*"))]
    return folders


def _sockets(folder: pathlib.Path, app: str | None) -> list[pathlib.Path]:
    try:
        status = folder.lstat()
        # Any user may make a folder of that name in /tmp, and listen there.
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return []
        paths = sorted(folder.glob("*.sock"))
    except OSError:
        return []
    return [path for path in paths if app is None or path.stem == app or path.stem.startswith(f"{app}@")]


def _is_live(path: pathlib.Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        # A bus whose backlog is full is one, too.
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True


def _app_here() -> str | None:
    """Returns the app that the manifest in the working folder names."""
    try:
        text = pathlib.Path(MANIFEST).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(r"""^app:\s*["']?([a-z0-9-]+)["']?\s*(#.*)?$""", text, re.MULTILINE)
    return found[1] if found else None
