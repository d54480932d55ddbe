# The result of the tool `find`: it lets a secret slip, which must not be on a cassette.
echo "\"on its way, asked with $MOCK_KEY\""
