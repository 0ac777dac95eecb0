#!/bin/bash
# The programs of tests/runtime on a kernel with cgroup v2: in an emulated machine
# (qemu without KVM), with Debian's kernel and an initramfs of busybox, these programs
# and the libraries that they use. Takes about a minute.
#
# TRAINYARD_TEST_KERNEL names a kernel; otherwise Debian's cloud kernel is fetched with
# apt into $BUILD/vm and unpacked there, not installed.
# run-tests: alone
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
programs=(contract delegated limits local unprivileged)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
    echo "skip - cgroup v2 in qemu: $1"
    exit 0
}

for tool in qemu-system-x86_64 busybox cpio; do
    command -v $tool >/dev/null || skip "no $tool"
done
[[ $(uname -m) == x86_64 ]] || skip 'the emulated machine is an x86_64'

# Prints the path of a kernel.
find_kernel() {
    local package
    if [[ -n ${TRAINYARD_TEST_KERNEL-} ]]; then
        echo "$TRAINYARD_TEST_KERNEL"
    elif ! compgen -G "$build/vm/boot/vmlinuz-*"; then
        mkdir -p "$build/vm" && cd "$build/vm" || return
        package=$(apt-cache depends linux-image-cloud-amd64 |
            awk '/Depends: linux-image-/ {print $2; exit}')
        apt-get -qq -o APT::Sandbox::User=root download "${package:?}" >&2 || return
        dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x ./boot && rm -f "$package"_*.deb
        compgen -G "$build/vm/boot/vmlinuz-*"
    fi | head -n 1
}
kernel=$(find_kernel 2>"$work/log")
[[ -r $kernel ]] || skip "no kernel to be had: $(tail -n 1 "$work/log")"

root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,tmp}
chmod 1777 "$root/tmp"
cp "$(command -v busybox)" "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
ln -s busybox "$root/bin/rm"
for program in "${programs[@]}"; do
    file=$build/tests/runtime/$program
    [[ -x $file ]] || { echo "not ok - $file is not built"; exit 1; }
    cp "$file" "$root/bin/"
    ldd "$file" | grep -o '/[^ ]*' >>"$work/libraries"
done
sort -u "$work/libraries" | while read -r library; do
    mkdir -p "$root/$(dirname "$library")"
    cp -L "$library" "$root/$library"
done

cat >"$root/init" <<'END'
#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
busybox mount -t cgroup2 cgroup2 /sys/fs/cgroup
busybox ip link set lo up 2>/dev/null
export CMOCKA_MESSAGE_OUTPUT=TAP
for program in $(busybox cat /programs); do
    echo "== $program"
    "/bin/$program" 2>&1
    echo "== exit $?"
done
busybox poweroff -f
END
echo "${programs[*]}" >"$root/programs"
chmod +x "$root/init" "$root/bin"/*
(cd "$root" && find . | cpio -o -H newc --quiet) | gzip -1 >"$work/initramfs"

timeout -k 5 400 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nographic \
    -no-reboot -kernel "$kernel" -initrd "$work/initramfs" \
    -append 'console=ttyS0 quiet loglevel=0 panic=-1' </dev/null 2>&1 | tr -d '\r' >"$work/console"

# Each program numbers its cases from 1: give them as plain lines under its name.
awk -v programs="${#programs[@]}" '
    { sub(/.*== contract$/, "== contract") }
    /^== exit / { if ($3 != 0) print "not ok - " program " ended with status " $3; ended++; next }
    /^== / { program = $2; next }
    /^skip: / { reason = substr($0, 7); next }
    /^(not )?ok [0-9]+ # SKIP/ {
        sub(/^(not )?ok [0-9]+ # SKIP */, "")
        print "skip - " program " " $0 ": " reason
        next
    }
    /^ok [0-9]+ - / { sub(/^ok [0-9]+ - /, ""); print "ok - v2 " program " " $0; next }
    /^not ok [0-9]+ - / { sub(/^not ok [0-9]+ - /, ""); print "not ok - v2 " program " " $0; next }
    program { print "# " $0 }
    END { if (ended != programs) print "not ok - the machine did not run all programs" }
' "$work/console" | tee "$work/result"
grep -q '^not ok' "$work/result" && { sed 's/^/# /' "$work/console"; exit 1; }
exit 0
