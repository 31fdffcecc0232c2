import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion } from '#client'
import { instantOf } from '../../contract/moment.ts'
import { UndoAnswer, UndoInput } from '../../contract/undo.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { UsageError } from '../cli-errors.ts'
import { readAnswer } from '../client/server-problem.ts'
import { askServer } from '../command.ts'
import { flag, option } from '../options.ts'

const spans: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const kinds = UndoInput.shape.by.options

const Since = z
  .string()
  .transform((text) => {
    const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
    return count === undefined ? text : new Date(Date.now() - Number(count) * (spans[unit] ?? 0)).toISOString()
  })
  .refine(
    (text) => instantOf(text) !== undefined,
    'must be a day such as 2026-11-26, a time with its zone such as 2026-11-26T08:00:00Z, or 30m, 4h or 2d ago',
  )

const sentences = {
  not_found: () => 'There is no such knowledge base or Source for this key.',
  insufficient_role: () => 'The key in GANGLION_KEY is not that of a curator.',
}

const Options = z.object({
  kb: option(z.string().min(1), '<slug>', 'the knowledge base'),
  since: option(Since, '<time>', 'start of the time: a day, a time with its zone, or an age such as 30m, 4h or 2d'),
  key: writer('key', '<name>', 'what an API key sent or pushed, by its name or UUID'),
  person: writer('person', '<email>', 'what a person wrote, by their e-mail address or UUID'),
  connector: writer('connector', '<name>', 'what came through a connector'),
  source: writer('source', '<uuid>', 'what was made of a Source, in all its editions'),
  model: writer('model', '<name>', 'what a language model wrote'),
  onBehalfOf: option(UndoInput.shape.onBehalfOf, '<id>', 'of these, what was sent on behalf of one end user'),
  dryRun: flag('only report what would be proposed'),
})

function writer(kind: UndoInput['by'], value: string, text: string) {
  const conflicts = kinds.filter((other) => other !== kind)
  return option(UndoInput.shape.writer.optional(), value, text, { conflicts })
}

export function addUndoCommand(program: Command): void {
  const command = program
    .command('undo')
    .description('propose to undo what one writer wrote since a time, through the API of a running server')
  const example = 'ganglion undo --kb handbook --key "Night agent" --since 4h --dry-run'
  askServer(command, Options, { key: "a curator's API key", example }, async (options, server) => {
    const { kb, since, onBehalfOf, dryRun = false } = options
    const [chosen] = kinds.flatMap((by) => (options[by] === undefined ? [] : [{ by, writer: options[by] }]))
    if (chosen === undefined) throw new UsageError(`one of ${kinds.map((kind) => `--${kind}`).join(', ')} is needed`)
    const asked = new Ganglion(server).kb(kb).undo({ ...chosen, since, dryRun, ...(onBehalfOf && { onBehalfOf }) })
    const answer = await readAnswer(asked, UndoAnswer, server, sentences)
    return { json: answer, text: textOf(answer, server.url) }
  })
}

function textOf({ message, reversals, kept, queueUrl }: UndoAnswer, server: string): string {
  return [
    ...reversals.map(({ seqId, action, title, warnings }) =>
      [`${action} ${seqId}  ${oneLine(title, 200)}`, ...warnings].join('\n  '),
    ),
    ...kept.map(({ seqId, reason }) => `keep ${seqId}  ${reason}`),
    message,
    ...(queueUrl === null ? [] : [queueUrl.replace(/^(?=\/)/, server)]),
  ].join('\n')
}
