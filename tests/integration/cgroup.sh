#!/bin/bash
# A small Linux that has nothing but cgroup v2, in qemu: the agent finds its controllers, and tasks are held by them.
# It is emulated, as KVM is not whole within every machine, and takes five seconds. Skipped where qemu, a kernel of
# Debian's or busybox is missing.
set -euo pipefail
skip() {
	echo "skipped: $*"
	exit 77
}
[ "$(uname -m)" = x86_64 ] || skip "the guest is an x86-64 machine"
command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86_64 is not installed"
busybox=$(command -v busybox) || skip "busybox is not installed"
kernel=$(find /boot -maxdepth 1 -name 'vmlinuz-*-amd64' -readable | sort -V | tail -1)
[ -n "$kernel" ] || skip "no kernel of Debian's is in /boot that may be read"
work=$(mktemp -d /tmp/berth-cgroup.XXXXXX)
trap 'rm -rf "$work"' EXIT
root=$work/root
programs=("$BUILD/tools/agent/berth-agent" "$BUILD/tests/tools/agent/task/agent_held_test")

mkdir -p "$root"/{bin,dev,etc,lib64,new,proc,run,sys,tmp,usr/lib,var}
cp "$busybox" "$root/bin/busybox"
for tool in $("$busybox" --list); do
	[ "$tool" = busybox ] || ln -s busybox "$root/bin/$tool"
done
cp "${programs[@]}" "$root/bin/"
ldd "${programs[@]}" | grep -o '/[^ )]*' | sort -u | while read -r library; do
	case $library in
	"$BUILD"/*) ;;
	*) mkdir -p "$root$(dirname "$library")" && cp -L "$library" "$root$library" ;;
	esac
done
printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
# A root that came with the kernel cannot be left as a confined task leaves it; this one can.
cat >"$root/init" <<'END'
#!/bin/sh
mount -t tmpfs -o mode=755 root /new
for name in bin etc lib lib64 usr; do [ ! -e /$name ] || cp -a /$name /new/; done
mkdir -p /new/dev /new/proc /new/run /new/sys /new/tmp /new/var/lib
cp /second /new/bin/second
exec switch_root /new /bin/second
END
cat >"$root/second" <<'END'
#!/bin/sh
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs tmp /tmp
options='--print-fingerprint --state-dir /var/lib/agent --cpu-mhz 4000'
berth-agent $options
echo "agent: $?"
# In a container its own group is all that there is, and it is in the way.
mkdir /sys/fs/cgroup/box
sh -c "echo \$\$ >/sys/fs/cgroup/box/cgroup.procs; exec berth-agent $options --cgroup-parent box" >/tmp/inside
sed 's/^/inside /' /tmp/inside
agent_held_test
echo "held: $?"
poweroff -f
END
chmod 755 "$root/init" "$root/second"
(cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd"

timeout 150 qemu-system-x86_64 -machine q35,accel=tcg -cpu max -smp 2 -m 512 -nodefaults -display none -no-reboot \
	-kernel "$kernel" -initrd "$work/initrd" -serial "file:$work/serial" \
	-append 'console=ttyS0 loglevel=2 panic=-1 random.trust_cpu=on' </dev/null || true
tr -d '\r' <"$work/serial" >"$work/said"
want() {
	grep -qF -- "$1" "$work/said" || {
		cat "$work/said"
		echo "FAILED: the guest did not say: $1"
		exit 1
	}
}
want 'attribute unique.cgroup.version=v2'
want 'attribute unique.cgroup.mountpoint=/sys/fs/cgroup'
want 'attribute berth.cgroup.controllers=cpu, cpuset, memory, pids'
want 'driver exec=1'
want 'agent: 0'
want 'inside attribute berth.cgroup.controllers=cpu, cpuset, memory, pids'
want 'held: 0'
grep -E '^\[ .*(test|PASSED)' "$work/said" | tail -2
