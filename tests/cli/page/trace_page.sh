# The page of a trace works in Chromium, with 40 chunks and with 4000, and for a trace of a
# GPU, in light and in dark mode.
. "$(dirname "$0")/../lib.bash"
python3 -c pass 2>/dev/null || exit 77
command -v chromium chromium-browser google-chrome >/dev/null || exit 77
for chunks in 40 4000; do
    expect 0 multiply -q "gen:band:$((10 * chunks)),1" --backend host --threads 2 --chunk-rows 10 \
        --trace "$chunks.html"
done
expect 0 trace "$TEST_DATA/device.trace" -o device.html
PYTHONPATH=$HYBRID_SOURCE/bench/lib python3 "$here/page/trace_page.py" 40.html 4000.html device.html 2>err ||
    fail "a page does not work"
