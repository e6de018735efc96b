#!/bin/sh
# A bare machine in a folder, for `cargo xtask test --fresh` (app/xtask/src/fresh.rs). Root runs it.
#
#   machine.sh whole FOLDER CHECKOUT COMMIT TOOLCHAIN RUSTUP PORT KEEP   builds it, runs both commands, removes it unless KEEP is yes
#   machine.sh run FOLDER COMMAND …                                      a command in the clone on a machine that was kept
#   machine.sh remove FOLDER
#
# FOLDER/root is the machine. FOLDER/settings has the variables of every command on it; FOLDER/files names the files that say how
# this computer reaches package managers, a line each: its place here, a tab, its place on the machine.
#
# What is mounted stands in a namespace that ends with its command: nothing of this computer can be below FOLDER when it is
# removed, and no process of the machine outlives the run.
set -eu

release=bookworm
# What the README tells a user of Debian to install, and what makes git and curl believe in certificates.
packages=build-essential,git,curl,ca-certificates

verb=$1 folder=$2 root=$2/root
shift 2

phase() { echo "==== $*"; }

# This computer's own lines for the release, where it is one of them: its mirrors are those it can reach.
sources() {
  # shellcheck disable=SC2016 # apt fills them in
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    grep -E " $release(-updates|-security)? main\$" | sort -u || true
}

install_debian() {
  mirror=$(sources | sed -n "s/^deb \(.*\) $release main\$/\1/p" | head -n 1)
  # In a namespace, because debootstrap mounts and can be ended before it unmounts.
  unshare --mount --pid --fork --kill-child \
    debootstrap --variant=minbase --include="$packages" "$release" "$root" ${mirror:+"$mirror"}
}

copy_settings() {
  sources >"$folder/sources"
  if [ -s "$folder/sources" ]; then cp "$folder/sources" "$root/etc/apt/sources.list"; fi
  if command -v apt-config >/dev/null; then
    apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90computer" || true
  fi
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  if [ -d /usr/local/share/ca-certificates ]; then cp -RL /usr/local/share/ca-certificates "$root/usr/local/share/"; fi
  chroot "$root" update-ca-certificates
  while IFS='	' read -r here there; do
    mkdir -p "$(dirname "$root$there")"
    cp -Lp "$here" "$root$there"
  done <"$folder/files"
  cp "$folder/settings" "$root/etc/settings"
}

# The compiler in use, as rustup would have installed it: not every network reaches where rustup downloads from.
copy_rust() {
  there=$root/root/.rustup/toolchains/$(basename "$1")
  mkdir -p "$there" "$root/root/.cargo/bin"
  tar -C "$1" --exclude=./share/doc -cf - . | tar -C "$there" --no-same-owner -xf -
  cp -L "$2" "$root/root/.cargo/bin/rustup"
  for program in "$there"/bin/*; do ln -sf rustup "$root/root/.cargo/bin/$(basename "$program")"; done
  run rustup --quiet default "$(basename "$1")"
}

clone() {
  git clone --quiet --no-hardlinks "$1" "$root/root/portolan"
  git -C "$root/root/portolan" checkout --quiet --detach "$2"
}

# In a namespace of its own: what programs count on below / of a machine that was started.
mount_all() {
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  mkdir "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
}

# In the background, since a shell hears of Ctrl-C only between commands and while it waits.
run() {
  unshare --mount --pid --fork --kill-child sh "$0" inside "$folder" "$@" &
  running=$!
  wait "$running"
  running=
}

remove() { rm -rf --one-file-system "$root"; }

# Of an interrupted or failed run nothing stays but the log.
finish() {
  trap - EXIT INT TERM HUP
  if [ -n "$running" ]; then kill -KILL "$running" 2>/dev/null || true; fi
  if [ "$1" != yes ]; then remove; fi
}

whole() {
  running=
  # shellcheck disable=SC2064 # what is asked for now holds then
  trap "finish $6; exit 130" INT TERM HUP
  # shellcheck disable=SC2064
  trap "finish $6" EXIT
  umask 022
  phase "bare Debian"
  install_debian
  copy_settings
  phase "Rust, as rustup leaves it, and a clone"
  clone "$1" "$2"
  copy_rust "$3" "$4"
  phase "cargo xtask serve"
  run sh app/xtask/fresh/timed.sh sh app/xtask/fresh/first_serve.sh "$5"
  phase "cargo xtask test"
  run sh app/xtask/fresh/timed.sh cargo xtask test
  phase "end"
}

case $verb in
whole) whole "$@" ;;
run) exec unshare --mount --pid --fork --kill-child sh "$0" inside "$folder" "$@" ;;
inside)
  mount_all
  # shellcheck disable=SC2016 # the machine's shell reads them
  exec env -i "$(command -v chroot)" "$root" /bin/sh -c '. /etc/settings; cd /root/portolan; exec "$@"' sh "$@"
  ;;
remove) remove ;;
esac
