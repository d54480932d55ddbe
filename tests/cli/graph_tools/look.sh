# Finds what it is asked for: what ends in `?` only the second time, all else not twice before that.
query=$(cat)
case "$query" in
  *'?"}') if [ -e asked ]; then rm asked found; else touch asked; echo "not now" >&2; exit 1; fi ;;
  *) if [ -e found ]; then echo "found already" >&2; exit 1; else touch found; fi ;;
esac
echo '"found"'
