# Any tool of the flows here: says when it begins and ends, in a file that no process of ours holds.
args=$(cat)
# Nothing came: who called was killed before it could say with what.
[ -n "$args" ] || exit 1
say() {
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$$" "$CALLER" "$GRAPHC_TOOL" "$GRAPHC_IDEMPOTENCY_KEY" "$args" >>calls.log
}
tried=$(grep -F "fail	" calls.log | grep -cF "	$GRAPHC_IDEMPOTENCY_KEY	")
say begin
sleep "${PAUSE:-0.04}"
case "$GRAPHC_TOOL" in
flaky)
  if [ "$tried" -lt 2 ]; then
    say fail
    echo '{"error": "busy"}'
    exit 1
  fi
  ;;
broken)
  say fail
  echo '{"error": "broken"}'
  exit 1
  ;;
esac
say end
printf '{"tool": "%s", "args": %s}' "$GRAPHC_TOOL" "$args"
