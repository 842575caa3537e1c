"""Headless Chromium for tests of pages: an import of this module ends the test where Selenium is missing.

Debian's Selenium belongs to Debian's Python, which need not be the one that was found first: the test is then
started again with it.
"""

import os
import pathlib
import shutil
import sys

from checks import skip

DEBIAN_PYTHON = "/usr/bin/python3"

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    if sys.executable != DEBIAN_PYTHON and pathlib.Path(DEBIAN_PYTHON).exists():
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
    skip("there is no Selenium (Debian: python3-selenium)")


def browser(home):
    """Chromium without a network, whose profile and caches go into the folder `home`."""
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        skip("there is no Chromium with chromedriver (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--force-color-profile=srgb"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    environment = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
    environment.update(HOME=home, TMPDIR=home)
    service = Service(shutil.which("chromedriver"), env=environment)
    driver = webdriver.Chrome(service=service, options=options)
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions",
                           {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
    return driver


def open_page(driver, address, width, height, scheme):
    """Opens it on a screen of that size, which is a phone's below 768 pixels, light or dark."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 768}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get(address)
