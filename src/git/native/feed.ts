import type { Writable } from 'node:stream'

type Input = AsyncIterable<Buffer | string> | Iterable<Buffer | string>

/** What git does not take, since it has ended, is read all the same: a client hears the answer once it has sent everything. */
export async function feed(input: Input | undefined, stdin: Writable): Promise<undefined> {
  for await (const chunk of input ?? []) {
    if (stdin.writable && !stdin.write(chunk)) await drained(stdin)
  }
  stdin.end()
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}
