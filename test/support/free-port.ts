import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A TCP port of this machine that nobody listens on now, below the ports that Linux gives by itself (32,768 and above): no other
 * test's server or connection is given it before the caller listens.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_768)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    (error) => {
      if (error.code !== 'EADDRINUSE') throw error
      return false
    },
  )
  if (!isFree) return freePort()
  await new Promise((resolve) => server.close(resolve))
  return port
}
