import subprocess
import sys


def test_people_and_projects_need_neither_a_server_nor_torch() -> None:
    code = (
        "import sys, seedbed.assets.access.users, seedbed.assets.access.secrets, seedbed.assets.projects.projects\n"
        "sys.exit(bool({'torch', 'fastapi', 'starlette', 'nicegui', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
