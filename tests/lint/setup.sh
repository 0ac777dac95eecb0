#!/bin/bash
# tools/setup asks apt for what is missing and for nothing else. A compiler and an
# apt of this test, which remember in files what is installed, stand in for the
# system's.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/setup
cd "$TMP/copy" && mkdir bin || exit 1

# program NAME TEXT: a command of the system.
program() {
    printf '#!/bin/bash\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}

for name in bash env cat cut mktemp rm touch; do
    ln -s "$(command -v "$name")" bin
done
for name in make pkg-config; do
    program $name true
done
program id 'echo 0'
# It has every header but that of a package that is missing.
# shellcheck disable=SC2016 # for the commands to expand
{
    program gcc 'read -r line; [[ $line == *jansson* && ! -e got-libjansson-dev ]] || echo found'
    program apt-get 'echo "$*" >>calls
[[ $* == *update* || -e lists ]] || { echo "E: Unable to locate package"; exit 100; }
[[ $* == *update* ]] && touch lists
for word; do [[ $word == lib* ]] && touch "got-$word"; done
true'
}
setup() {
    PATH=$PWD/bin tools/setup "$@"
}

check_error 'what is missing' 1 'missing, by Debian.s package names: libjansson-dev$' \
    setup --check
check 'is only named by --check' [ ! -e calls ]
check_output 'and installed without it' '^tools/setup: installing libjansson-dev$' setup
check_file 'after an update, as the lists were old' calls 'update'
check_file 'with nothing that is only recommended' calls \
    'install -y --no-install-recommends libjansson-dev$'
rm calls
check 'when nothing is missing' setup
check_no_line 'it says nothing' "$TMP/output" ''
check 'and calls nobody' [ ! -e calls ]

rm got-libjansson-dev
check 'with good lists' setup
if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
    check_no_line 'there is no update' calls update
fi
rm got-libjansson-dev
# shellcheck disable=SC2016
program sudo 'echo "sudo $*" >>calls; "$@"'
program id 'echo 1000'
check 'not as root' setup
check_file 'it uses sudo' calls '^sudo env DEBIAN_FRONTEND=noninteractive apt-get'
rm got-libjansson-dev bin/sudo
check_error 'or says what to do without' 1 'as root, run: apt-get install libjansson-dev$' setup
program id 'echo 0'
program apt-get 'echo "E: no network"; exit 100'
check_error 'an apt that fails is quoted' 1 '^E: no network$' setup
program apt-get true
check_error 'an apt that installs nothing' 1 'still missing after the installation: libjansson-dev$' \
    setup
rm bin/apt-get
check_error 'a system without apt' 1 'no apt; install by hand what Debian calls: libjansson-dev$' \
    setup
touch got-libjansson-dev
check_error 'what the lint needs' 1 ' clang-tidy ' setup --check lint
check_no_line 'is not what only the tests need' "$TMP/output" ' zsh '
check_error 'the tests need both' 1 ' clang-tidy .* zsh ' setup --check test
if [[ -e /usr/lib/python3/dist-packages/torch ]]; then
    check_no_line 'a module that is there' "$TMP/output" 'python3-torch'
else
    check_file 'a module that is missing' "$TMP/output" ' python3-torch '
fi
check_error 'a wrong word' 1 'usage: tools/setup' setup everything
