import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Order } from '../../../src/git/native/child-program.ts'
import { programStarter } from '../../../src/git/native/spawner.ts'

/** A process that starts programs through a spawner, in the way that its first argument names; the second is their folder. */
const [, , mode, cwd = '/'] = process.argv
const start = programStarter(0)

function shell(script: string): Order {
  return { command: 'sh', args: ['-c', script], cwd, env: { PATH: process.env.PATH }, hasInput: false, channels: 0 }
}

async function run(script: string): Promise<string> {
  const { stdout, ended } = await start(shell(script))
  const [output] = await Promise.all([text(stdout), ended])
  return output
}

/** Connections of what was refused may take descriptors for some moments more. */
async function untilStarted(script: string): Promise<string> {
  for (;;) {
    try {
      return await run(script)
    } catch {
      await delay(20)
    }
  }
}

/** Opens files until there may be no more. */
function takeAllDescriptors(): number[] {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    return taken
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error)

const modes: Record<string, () => Promise<unknown>> = {
  one: () => run('echo done'),
  wait: async () => {
    await start(shell("trap '' TERM; sleep 100 & sleep 100"))
    console.log('waiting')
  },
  'no descriptors': async () => {
    await run('exit 0')
    const taken = takeAllDescriptors()
    const refused = await run('echo refused').catch(codeOf)
    for (const descriptor of taken) closeSync(descriptor)
    return [refused, await run('echo again')]
  },
  'too many': async () => {
    await run('exit 0')
    const started = await Promise.allSettled(Array.from({ length: 60 }, () => start(shell('sleep 100'))))
    for (const outcome of started) if (outcome.status === 'fulfilled') outcome.value.kill('SIGKILL')
    await Promise.all(started.map((outcome) => outcome.status === 'fulfilled' && outcome.value.ended))
    const refused = started.flatMap((outcome) => (outcome.status === 'rejected' ? [codeOf(outcome.reason)] : []))
    return [started.length - refused.length > 0, [...new Set(refused)], await untilStarted('echo again')]
  },
}

const result = await modes[mode ?? '']?.()
if (result !== undefined) console.log(JSON.stringify(result))
