"""Pictures for docs/results from the pages of `gsc reproduce`: pictures.py FOLDER_OF_PAGES FOLDER_OF_PICTURES [NAME...]

Needs chromium, chromium-driver and Debian's python3-selenium and python3-pil.
"""
import io
import pathlib
import shutil
import sys
import tempfile

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

WIDTH = 960
# What of a page is shown; left out: its charts. From the first to the last of these.
SHOWN = {"posteriors": "h2:has(+ .figures), .figures", "house": ".figures, .charts, .basis"}
NOT_DRAWN = {"inpainting", "selection", "table1"}  # tables only
COLOURFUL = {"posteriors"}  # a few coloured pixels among many greys
TALLEST = 1280


def open_browser(folder):
    options = Options()
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"):
        options.add_argument(argument)
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def set_height(browser, height):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False})


def picture_of(browser, page):
    set_height(browser, 900)
    browser.get(page.resolve().as_uri())
    set_height(browser, browser.execute_script("return document.documentElement.scrollHeight"))
    top, bottom = browser.execute_async_script("""
      const [selector, done] = arguments;
      setTimeout(() => {
        const boxes = [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
        done([Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))]);
      }, 500);  // charts follow the size of the window a frame later
    """, SHOWN.get(page.stem, ".charts"))
    whole = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    return whole.crop((20, int(top) - 10, WIDTH - 20, min(int(bottom) + 10, int(top) + TALLEST)))


def main():
    pages, pictures, names = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        browser = open_browser(folder)
        for page in sorted(pages.glob("*.html")):
            if page.stem in NOT_DRAWN or (names and page.stem not in names):
                continue
            picture = picture_of(browser, page)
            if page.stem not in COLOURFUL:
                picture = picture.quantize(128, dither=Image.Dither.NONE)
            picture.save(pictures / f"{page.stem}.png", optimize=True)
            print(page.stem, *picture.size)
        browser.quit()


main()
