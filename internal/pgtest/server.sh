# Runs a private PostgreSQL for as long as its owner keeps descriptor 3, the
# reading end of a pipe, open at the other end. However the owner ends, server
# and folder go with it.
#
#   sh -c server.sh sh FOLDER BINARIES [SETTING…]     exists: FOLDER, empty
#
# While there is FOLDER/keep the folder stays, and is taken as it is by the next
# run: what a server that is killed has left.
folder=$1 binaries=$2
shift 2

(
	[ -d "$folder/data" ] || "$binaries/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --no-sync --no-instructions \
		--encoding=UTF8 --locale=C --locale-provider=icu --icu-locale=en-US >&2 || exit
	exec "$binaries/postgres" -D "$folder/data" -k "$folder" "$@"
) 3<&- &
server=$!

# The signal is repeated because a process that the shell has put in the
# background ignores it until PostgreSQL has installed its own handler.
(
	while read -r _; do :; done
	while kill -QUIT "$server"; do sleep 0.1; done
) <&3 2>/dev/null &
watch=$!

wait "$server"
status=$?
kill "$watch"
[ -e "$folder/keep" ] || rm -rf "$folder"
exit "$status"
