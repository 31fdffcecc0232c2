import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { serverOf } from '../client/api-server.ts'

const skill = new URL('../../../skills/ganglion/SKILL.md', import.meta.url)

/** Adds `mcp`, which calls a running server over HTTP. */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('let an agent that starts programs use a running server (Model Context Protocol over stdio)')
    .option('--url <url>', 'URL of the server (default: GANGLION_URL)')
    .option('--skill', 'print an agent skill that teaches the tools (SKILL.md), and end')
    .addHelpText(
      'after',
      '\nGANGLION_KEY holds the API key; the command line takes none, since others can see it.' +
        '\n\nExample, in the settings of the agent:\n' +
        '  {"mcpServers": {"ganglion": {"command": "ganglion", "args": ["mcp", "--url", "http://127.0.0.1:4870"],\n' +
        '                               "env": {"GANGLION_KEY": "gng_…"}}}}',
    )
    .action(async (given: Record<string, unknown>) => {
      if (given.skill === true) return void process.stdout.write(await readFile(skill, 'utf8'))
      const server = serverOf(given.url, 'an API key')
      const { bridgeMcp } = await import('../client/mcp-bridge.ts')
      await bridgeMcp(server, process.stdin, process.stdout)
    })
}
