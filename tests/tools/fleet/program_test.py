"""What berth-fleet is refused ends it with a sentence, and the exit status of what went wrong.

program_test.py BERTH_FLEET
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

PR_CAPBSET_DROP, CAP_NET_ADMIN = 24, 12
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1000,0,\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\np,1,1,0,0,,q\n"
SHORT = ("--nodes=1", "--duration=0.05")
CASES = [
    (("--server=,",), '"," is no list of controllers'),
    (("--server=300.0.0.1:1",), 'cannot resolve "300.0.0.1:1"'),
    (("--server=300.0.0.1:1", "--write-pcap=/dev/null"), 'cannot resolve "300.0.0.1:1"'),
    (("--write-pcap=/nosuch/file",), "cannot write /nosuch/file: No such file or directory"),
    (("--write-pcap=/dev/full", *SHORT), "cannot write /dev/full: No space left on device"),
    (("--json=/dev/full", *SHORT), "cannot write /dev/full: No space left on device"),
    (("--source=192.0.2.1",), "cannot send from 192.0.2.1: Cannot assign requested address"),
    (("--trace=FOLDER", "--http=http://127.0.0.1:1"), "127.0.0.1:1"),
    (("--vdev=net_null0", "--address=10.9.9.9", "--server=300.0.0.1:1"), 'cannot resolve "300.0.0.1:1"'),
    (("--vdev=net_null0", "--address=10.9.9.9", "--eal=--nosuch"), "DPDK does not start"),
]


def as_anybody():
    """Buffers are then no larger than the system's limit, which hinders nobody."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0)


def refused(words, says, output):
    """Whether it ends so; it prints to output."""
    run = subprocess.run([sys.argv[1], *words], text=True, timeout=30, stdout=output, stderr=subprocess.PIPE,
                         preexec_fn=as_anybody)
    if run.returncode != 3 or says not in run.stderr:
        print(f"{' '.join(words)}: {run.returncode}: {run.stderr}")
        return 1
    return 0


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="berth-fleet-") as folder:
        key = pathlib.Path(folder) / "master.key"
        key.touch(0o600)
        key.write_text("1 " + "07" * 32 + "\n")
        (pathlib.Path(folder) / "openb_node_list_all_node.csv").write_text(NODES)
        (pathlib.Path(folder) / "openb_pod_list_default.csv").write_text(PODS)
        for words, says in CASES:
            words = [word.replace("FOLDER", folder) for word in words]
            failed += refused([f"--key-file={key}", "--quiet", *words], says, subprocess.DEVNULL)
        with open("/dev/full", "w", encoding="ascii") as full:
            words = [f"--key-file={key}", "--quiet", "--json=-", *SHORT]
            failed += refused(words, "cannot write -: No space left on device", full)
    return failed


if __name__ == "__main__":
    sys.exit(main())
