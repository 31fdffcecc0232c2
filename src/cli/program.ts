import type { Command } from 'commander'
import { packageVersion } from '../operate/package-version.ts'
import { runCommand } from './run-command.ts'

type Adder = (program: Command) => void

/** All commands, in the order of the help. Only those that match the first word are loaded. */
export const commands: readonly { words: readonly string[]; load: () => Promise<Adder> }[] = [
  { words: ['serve'], load: async () => (await import('./commands/serve.ts')).addServeCommand },
  { words: ['tenant'], load: async () => (await import('./commands/tenant.ts')).addTenantCommands },
  { words: ['kb'], load: async () => (await import('./commands/kb.ts')).addKnowledgeBaseCommands },
  { words: ['key'], load: async () => (await import('./commands/key.ts')).addKeyCommands },
  { words: ['user'], load: async () => (await import('./commands/user.ts')).addUserCommands },
  { words: ['import'], load: async () => (await import('./commands/import.ts')).addImportCommand },
  { words: ['upload'], load: async () => (await import('./commands/upload.ts')).addUploadCommand },
  { words: ['watch'], load: async () => (await import('./commands/watch.ts')).addWatchCommand },
  { words: ['mcp'], load: async () => (await import('./commands/mcp.ts')).addMcpCommand },
  { words: ['check'], load: async () => (await import('./commands/check.ts')).addCheckCommand },
  { words: ['test'], load: async () => (await import('./commands/test.ts')).addTestCommand },
  {
    words: ['proposed-tests'],
    load: async () => (await import('./commands/proposed-tests-command.ts')).addProposedTestsCommand,
  },
  { words: ['lint'], load: async () => (await import('./commands/lint.ts')).addLintCommand },
  { words: ['ask', 'search'], load: async () => (await import('./commands/ask-command.ts')).addAskCommands },
  { words: ['review'], load: async () => (await import('./commands/review.ts')).addReviewCommand },
  { words: ['candidate'], load: async () => (await import('./commands/candidate-command.ts')).addCandidateCommands },
  { words: ['blame'], load: async () => (await import('./commands/blame-command.ts')).addBlameCommand },
  { words: ['still-true'], load: async () => (await import('./commands/still-true-command.ts')).addStillTrueCommand },
  { words: ['undo'], load: async () => (await import('./commands/undo-command.ts')).addUndoCommand },
  { words: ['forge'], load: async () => (await import('./commands/forge.ts')).addForgeCommands },
  { words: ['mirror'], load: async () => (await import('./commands/mirror.ts')).addMirrorCommand },
  { words: ['erase'], load: async () => (await import('./commands/erase-command.ts')).addEraseCommand },
  { words: ['webhook'], load: async () => (await import('./commands/webhook.ts')).addWebhookCommands },
  {
    words: ['verify', 'rebuild', 'migrate', 'backup', 'restore'],
    load: async () => (await import('./commands/operations.ts')).addOperationCommands,
  },
]

const examples = `
Examples:
  ganglion serve                                        start the server, as ganglion alone; the first start makes a demo and keys
  ganglion kb create handbook --tenant acme             make a knowledge base
  ganglion key create --tenant acme --role app          make an API key
  ganglion user create ada@example.com --tenant acme    make a user; prints the link by which they choose a password
  ganglion key list --json                              list API keys, as JSON`

/** Runs a command line. Without arguments it is `serve`, so that `npx ganglion` in an empty folder shows the demo. */
export function runProgram(given: readonly string[]): Promise<number> {
  const argv = given.length === 0 ? ['serve'] : given
  return runCommand(argv, async (program) => {
    program
      .name('ganglion')
      .description('A server that keeps knowledge bases in git.')
      .version(packageVersion)
      .addHelpText('after', examples)
    for (const add of await Promise.all(neededFor(argv).map(({ load }) => load()))) add(program)
  })
}

/** Returns the commands to load: all of them for the help and for an unknown first word. */
function neededFor([first = '']: readonly string[]): typeof commands {
  if (first === '--version' || first === '-V') return []
  const asked = commands.filter(({ words }) => words.includes(first))
  return asked.length > 0 ? asked : commands
}
