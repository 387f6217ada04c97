"""The project's own files, for the checks: what git tracks, or without git all that is not a build."""
import os
import pathlib
import subprocess


def listed_by_git(root):
    command = ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z"]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    names = [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    return names or None


def listed_by_walking(root):
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith("build") and f not in (".git", "__pycache__")]
        names += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return names


def list_files(root):
    """Paths relative to root, sorted; only regular files that exist."""
    root = pathlib.Path(root).resolve()
    names = listed_by_git(root)
    if names is None:
        names = listed_by_walking(root)
    return sorted(n for n in names if (root / n).is_file() and not (root / n).is_symlink())


def list_c(root):
    return [name for name in list_files(root) if name.endswith((".c", ".h"))]


def in_any(name, places):
    """Whether a file is one of places or below one that ends with a slash."""
    return any(name.startswith(p) if p.endswith("/") else name == p for p in places)
