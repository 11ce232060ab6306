#!/bin/sh
# Makes a virtual environment and installs a lock into it; returns at once when that is already so.
#
#     scripts/setup.sh FOLDER LOCK [OPTION…]      options go to the installer
#
# Uses uv where it is there, venv and pip otherwise; both refuse a file whose hash is not in the lock.
# What this machine lacks is said in one sentence, exit 1.
set -eu
cd "$(dirname "$0")/.."
folder=$1 lock=$2
shift 2
python="$folder/bin/python"
stamp="$folder/.installed-$(basename "$lock" .lock)"

fail() {
    printf '%s\n' "$1" >&2
    exit 1
}

fits() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {  # 3.14 after the older ones, and whatever is newer last: wheels appear late
    for name in python3.13 python3.12 python3.11 python3.14 python3 python; do
        if command -v "$name" >/dev/null && fits "$name"; then
            command -v "$name"
            return
        fi
    done
}

install_command() {  # install_command missing|old|venv
    if [ "$(uname -s)" = Darwin ]; then
        echo "brew install python@3.13"
    elif command -v apt-get >/dev/null; then
        case $1 in
            missing) echo "sudo apt install python3 python3-venv" ;;
            old) echo "sudo apt install python3.11 python3.11-venv" ;;
            venv) echo "sudo apt install python3-venv" ;;
        esac
    elif command -v dnf >/dev/null; then
        if [ "$1" = old ]; then echo "sudo dnf install python3.12"; else echo "sudo dnf install python3"; fi
    else
        echo "your package manager, or https://www.python.org/downloads/"
    fi
}

fail_without_python() {
    for name in python3 python; do
        if command -v "$name" >/dev/null && found=$("$name" -c 'import sys; print(sys.version.split()[0])' 2>/dev/null); then
            fail "Plancia needs Python 3.11 or newer, and $name here is $found; install a newer one ($(install_command old)) and run make again."
        fi
    done
    fail "Plancia needs Python 3.11 or newer, and there is none here; install it ($(install_command missing)) and run make again."
}

make_environment() {
    base=$(find_python)
    if command -v uv >/dev/null; then
        uv venv --quiet --clear --python "${base:-3.13}" "$folder" || fail_without_python  # uv can bring a Python itself
        return
    fi
    [ -n "$base" ] || fail_without_python
    "$base" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$base comes without the module venv; install it ($(install_command venv)) and run make again."
    "$base" -m venv --clear "$folder" || fail "$base could not make the folder $folder; the lines above say why."
}

install() {
    if command -v uv >/dev/null; then
        uv pip install --quiet --require-hashes --python "$python" "$@" -r "$lock"
    else
        "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip >/dev/null  # an environment made by uv has none
        "$python" -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes "$@" -r "$lock"
    fi
}

link() {  # the command `plancia` of this environment runs this checkout, from any folder
    pwd >"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/plancia.pth"
    printf '#!/bin/sh\nexec "%s" -P -m app "$@"\n' "$PWD/$python" >"$folder/bin/plancia"
    chmod +x "$folder/bin/plancia"
}

compile() {  # so that the first start is a quick one; litellm and what it brings wait for their first use (75 MB)
    "$python" -m compileall -qq -j 0 -x '/(boto3|botocore|fsspec|huggingface_hub|litellm|openai)/' app "$folder/lib" || :
}

wanted="$(cksum <"$lock") $PWD"
if [ -x "$python" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi
fits "$python" || make_environment
echo "Installing $lock into $folder (only when it changed) …" >&2
install "$@" || fail "installing $lock did not work; the lines above say why. Is the network there? Then run make again."
case $lock in
    */run.lock | */test.lock) link ;;
esac
compile
printf '%s\n' "$wanted" >"$stamp"
