"""The lists of closed places and guarded names: policy as data. ``*`` stands for any text within one name."""

from __future__ import annotations

HOME_PLACES = (
    *(
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".config/gcloud",
        ".kube",
        ".docker/config.json",
        ".netrc",
        "_netrc",
    ),
    *(".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli"),
    *(".npmrc", ".yarnrc.yml", ".pypirc", ".config/pip/pip.conf", ".cargo/credentials*", ".gem/credentials"),
    *(".m2/settings.xml", ".gradle/gradle.properties", ".nuget", ".terraform.d", ".terraformrc"),
    *(".vault-token", ".config/op", ".password-store", ".local/share/keyrings", ".local/share/kwalletd"),
    *("Library/Keychains", "Library/Cookies", "Library/Safari", "Library/Application Support/Google"),
    *("Library/Application Support/Firefox", "Library/Application Support/BraveSoftware"),
    *("Library/Application Support/Microsoft Edge", "Library/Application Support/Chromium"),
    *(".mozilla", ".config/google-chrome*", ".config/chromium", ".config/BraveSoftware"),
    *(".config/microsoft-edge", ".config/vivaldi", ".thunderbird", ".config/Signal"),
    *(".electrum", ".bitcoin", ".ethereum", ".config/solana", ".pgpass", ".my.cnf", ".mylogin.cnf", ".s3cfg"),
    *(".config/rclone", ".boto", ".databrickscfg", ".huggingface", ".cache/huggingface/token"),
    *(".config/openai", ".claude*", ".codex", ".gemini", ".*_history", ".viminfo"),
)
"""Credentials, browsers, wallets and shell histories, from the user's home folder."""

SYSTEM_PLACES = (
    *("proc", "sys", "dev", "etc/shadow*", "etc/gshadow*", "etc/sudoers*", "root", "run/secrets", "run/user"),
    *("run/docker.sock", "var/run/secrets", "var/run/user", "var/run/docker.sock"),
    *("private/etc/sudoers*", "private/var/db", "Library/Keychains"),
)
"""From ``/``. A home folder inside one of them (root's own) opens it again."""

NEEDED_BY_PROGRAMS = ("proc", "sys", "dev")
"""Of those, what no program runs without: there a mechanism of the system decides, device by device."""

ASK = (
    *(
        ".env",
        ".env.*",
        "*.pem",
        "*.key",
        "*.p12",
        "*.kdbx",
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
    ),
    *("credentials*.json", "service-account*.json", "terraform.tfstate", "terraform.tfstate.backup"),
)
"""Files that often hold a secret, wherever they lie: reading one is the user's decision."""

FREE = (".env.example", ".env.sample", ".env.template", "id_*.pub")
"""Look-alikes of the above that hold none."""

NEVER_WRITTEN = (
    *(".git", ".gitmodules", ".gitconfig", ".mcp.json", ".vscode", ".idea", ".envrc", ".ripgreprc"),
    *("sitecustomize.py", "usercustomize.py", ".profile", ".login", ".inputrc", ".xprofile", ".xinitrc"),
    *(".xsession", ".xsessionrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
)
"""Names that make other programs run or trust what stands in them."""

NEVER_WRITTEN_PAIRS = (
    *((".config", "autostart"), (".config", "systemd"), ("library", "launchagents")),
    *(("library", "launchdaemons"), ("fish", "config.fish"), ("site-packages", "*.pth")),
)
"""As above, where only a folder and a name in it say so."""

NOISE = (
    *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox"),
    *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
)
"""Folders that a search leaves out unless it starts inside them: made by programs, not by people."""

SYSTEM_FOLDERS = (
    *(
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/lib",
        "/lib32",
        "/lib64",
        "/proc",
        "/root",
        "/run",
        "/sbin",
        "/sys",
        "/usr",
    ),
    *("/Applications", "/Library", "/System", "/private/etc", "/private/var/db"),
)
"""What belongs to the machine: nobody grants it, though a single file of it may be read."""
