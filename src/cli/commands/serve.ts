import type { Command } from 'commander'
import { z } from 'zod'
import { act } from '../command.ts'
import { option } from '../options.ts'
import { Port } from '../settings/environment.ts'

const Options = z.object({
  host: option(
    z.string().min(1).exactOptional(),
    '<address>',
    'where to listen (default: GANGLION_HOST, or 127.0.0.1)',
  ),
  port: option(Port.exactOptional(), '<number>', 'where to listen (default: GANGLION_PORT, or 4870)'),
})

export function addServeCommand(program: Command): void {
  act(
    program
      .command('serve')
      .description('start the server; the first start makes a knowledge base and API keys')
      .addHelpText('after', '\nExample:\n  GANGLION_PORT=8080 ganglion serve --data /srv/ganglion'),
    Options,
    async (options, environment) => {
      // Loads the HTTP server only here: loading it takes long, and no other command needs it.
      const { runServer } = await import('../run-server.ts')
      return runServer({ ...environment, ...options })
    },
  )
}
