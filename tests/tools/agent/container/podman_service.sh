#!/bin/bash
# A podman of its own below FOLDER, which listens on FOLDER/sock, with the image "test:1" of a busybox, and leave to
# pull from the registries of this machine whose ports are in FOLDER/registry. It makes what podman needs and this
# machine may not have, in a mount namespace of its own: control groups of version 2.
#
# With "enabled" its containers have groups, of either version: it makes no others then.
#
#   podman_service.sh FOLDER disabled|enabled
set -euo pipefail
folder=$1
groups=$2
if [ "${3:-}" != inside ]; then
	exec unshare -m "$0" "$folder" "$groups" inside
fi
if [ "$groups" = enabled ]; then
	umount /sys/fs/cgroup/unified 2>/dev/null || true # crun wants one version
elif [ ! -f /sys/fs/cgroup/cgroup.controllers ]; then
	umount -R /sys/fs/cgroup 2>/dev/null || true
	mount -t cgroup2 none /sys/fs/cgroup
fi
mkdir -p "$folder"/image/{bin,tmp,etc}
cp "$(command -v busybox)" "$folder/image/bin/busybox"
for name in sh sleep echo cat id env kill true touch stty head tr wc; do
	ln -sf busybox "$folder/image/bin/$name"
done
echo 'root:x:0:0::/:/bin/sh' >"$folder/image/etc/passwd"
echo 'worker:x:1234:1234::/:/bin/sh' >>"$folder/image/etc/passwd"
tar -C "$folder/image" -cf "$folder/image.tar" .
cat >"$folder/containers.conf" <<END
[containers]
cgroups = "$groups"
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "crun"
END
for port in $(cat "$folder/registry"); do
	printf '[[registry]]\nlocation = "127.0.0.1:%s"\ninsecure = true\n' "$port"
done >"$folder/registries.conf"
export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_REGISTRIES_CONF=$folder/registries.conf
podman=(podman --root "$folder/root" --runroot "$folder/run" --storage-driver vfs)
"${podman[@]}" import -q "$folder/image.tar" test:1 >/dev/null
exec "${podman[@]}" system service --time 0 "unix://$folder/sock"
