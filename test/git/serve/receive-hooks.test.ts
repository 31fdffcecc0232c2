import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { encodePacket, flushPacket } from '../../../src/git/serve/pkt-line.ts'
import { answerHooks, type Receiver } from '../../../src/git/serve/receive-hooks.ts'
import { clearAbandonedQuarantines } from '../../../src/git/transport/quarantine.ts'
import { tempDir } from '../../support/temp.ts'

const [zero, one, two] = ['0', '1', '2'].map((digit) => digit.repeat(40))

/** The hooks' side of the channels, and what the receiver was asked to take. */
function hooks(judge: Receiver['judge'] = async () => ({ accepted: true, lines: ['fine'] })) {
  const gitDir = tempDir()
  mkdirSync(join(gitDir, 'objects', 'pack'), { recursive: true })
  const channels = {
    question: new PassThrough(),
    verdict: new PassThrough(),
    commands: new PassThrough(),
    reports: new PassThrough(),
    messages: new PassThrough(),
  }
  const received: unknown[] = []
  const errors: unknown[] = []
  const receiver: Receiver = {
    judge,
    async receive(updates, options) {
      received.push({ updates, options })
      return { outcomes: updates.slice(0, 1).map(({ ref }) => ({ ref })), lines: ['taken'] }
    },
  }
  const onError = (error: unknown) => void errors.push(error)
  const settled = answerHooks(channels, { gitDir, receiver, maxRefs: 10, onError })
  const command = (lines: string[], features = '') => {
    channels.commands.end(
      Buffer.concat([
        encodePacket(`version=1${features}\n`),
        flushPacket,
        ...lines.map((line) => encodePacket(`${line}\n`)),
        flushPacket,
      ]),
    )
  }
  return { channels, received, errors, settled, command }
}

const update = `${zero} ${one} refs/heads/x`

test('what was judged is received, and what nothing was said of is refused', async () => {
  const { channels, received, command, settled } = hooks()
  const second = `${one} ${zero} refs/heads/y`
  channels.question.end(`/q\n${update}\n${second}\n\n`)
  expect(await text(channels.verdict)).toBe('accept\nfine\n')
  command([update, second])
  expect(await text(channels.reports)).toBe(
    `000eversion=1\n0000${encodePacket('ok refs/heads/x')}${encodePacket('ng refs/heads/y nothing was done')}0000`,
  )
  expect(await text(channels.messages)).toBe('taken\n')
  await settled
  expect(received).toEqual([
    {
      updates: [
        { ref: 'refs/heads/x', from: undefined, to: one },
        { ref: 'refs/heads/y', from: one, to: undefined },
      ],
      options: [],
    },
  ])
})

test('what is judged comes with the options of the push, and none of them is taken for a ref', async () => {
  const judged: unknown[] = []
  const { channels, settled } = hooks(async (...question) => {
    judged.push(question)
    return { accepted: true, lines: [] }
  })
  channels.question.end(`/q\noption submit\noption ${update}\noption \n${update}\n\n`)
  await text(channels.verdict)
  channels.commands.end()
  await settled
  expect(judged).toEqual([[[{ ref: 'refs/heads/x', from: undefined, to: one }], '/q', ['submit', update, '']]])
})

test.each([
  ['nothing was judged', undefined, [update]],
  ['another commit was judged', `${zero} ${two} refs/heads/x`, [update]],
  ['more was judged', `${update}\n${zero} ${one} refs/heads/y`, [update]],
  ['less was judged', update, [update, `${zero} ${one} refs/heads/y`]],
])('where %s, nothing is received', async (_, judged, asked) => {
  const { channels, received, command, settled } = hooks()
  if (judged !== undefined) {
    channels.question.write(`\n${judged}\n\n`)
    await text(channels.verdict)
  }
  channels.question.end()
  command(asked)
  expect(await text(channels.reports)).toContain('ng refs/heads/x not what was checked')
  await settled
  expect(received).toEqual([])
})

test('what was refused is not received, even when it is asked for', async () => {
  const { channels, received, command, settled } = hooks(async () => ({ accepted: false, lines: [] }))
  channels.question.end(`\n${update}\n\n`)
  expect(await text(channels.verdict)).toBe('refuse\n')
  command([update])
  expect(await text(channels.reports)).toContain('ng refs/heads/x not what was checked')
  await settled
  expect(received).toEqual([])
})

test('hooks that say nothing, or nonsense, are not waited for', async () => {
  const silent = hooks()
  silent.channels.question.destroy()
  silent.channels.commands.destroy()
  await silent.settled
  expect(silent.errors).toEqual([])
  const wild = hooks()
  wild.channels.question.end('/q\nhalf a line')
  wild.channels.commands.end('hello')
  await wild.settled
  expect(wild.errors).toHaveLength(1)
  expect(await text(wild.channels.reports)).toBe('')
  expect(wild.received).toEqual([])
})

test('the leftovers of killed pushes are removed after an hour without a change', async () => {
  const gitDir = tempDir()
  const objects = join(gitDir, 'objects')
  const hourAgo = Date.now() / 1000 - 3700
  for (const name of ['tmp_objdir-incoming-old', 'tmp_objdir-incoming-new', 'tmp_objdir-incoming-busy', 'pack']) {
    mkdirSync(join(objects, name, 'pack'), { recursive: true })
    writeFileSync(join(objects, name, 'pack', 'tmp_pack_x'), 'x')
    for (const path of ['pack/tmp_pack_x', 'pack', '']) {
      if (!name.endsWith('new')) utimesSync(join(objects, name, path), hourAgo, hourAgo)
    }
  }
  utimesSync(join(objects, 'tmp_objdir-incoming-busy', 'pack', 'tmp_pack_x'), new Date(), new Date())
  await clearAbandonedQuarantines(gitDir)
  expect(readdirSync(objects).sort()).toEqual(['pack', 'tmp_objdir-incoming-busy', 'tmp_objdir-incoming-new'])
})
