# The result of the tool `status`: visit 1, 2 and 3, and again from 1.
echo >> visits.log
echo "\"visit $(( ($(wc -l < visits.log) - 1) % 3 + 1 ))\""
