"""A network of one's own: the loopback, and nothing else."""
import os
import resource
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def enter():
    """Begins the program anew in a namespace, if it is not in one; then it may import the modules beside it."""
    if not os.environ.get("HOSTILE_INSIDE"):
        if os.getuid() != 0:
            print("skipped: only root makes network namespaces")
            sys.exit(77)
        os.environ["HOSTILE_INSIDE"] = "yes"
        os.execvp("unshare", ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
                              sys.executable, "-B", *sys.argv])
    sys.path.insert(0, os.path.join(HERE, "../dataplane/wire"))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
