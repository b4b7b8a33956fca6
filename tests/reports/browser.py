"""A real Chromium for tests of the HTML report; tests are skipped where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-extensions --disable-dev-shm-usage"
)


def missing() -> str:
    """Why there is no browser to test with; empty if there is one."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        return "needs chromium and chromedriver (Debian: chromium, chromium-driver)"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "needs selenium"
    return ""


needs_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")


@contextmanager
def browser(folder: Path, width: int = 1400, height: int = 1000, *, scheme: str = "light") -> Iterator[Chrome]:
    """A browser with a profile of its own, which keeps what it writes to its console."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={folder / 'profile'}")
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(str(shutil.which("chromedriver")), log_output=os.devnull)
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        yield driver
    finally:
        driver.quit()
        service.stop()


def complaints(driver: Chrome) -> list[Any]:
    """What the browser's console holds since the last look: errors, warnings, violations of the policy."""
    return list(driver.get_log("browser"))


def loaded(driver: Chrome) -> list[str]:
    """Addresses that the page asked for."""
    import json

    asked = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    return asked
