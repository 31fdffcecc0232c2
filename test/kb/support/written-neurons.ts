import { GanglionError } from '../../../src/contract/errors.ts'
import type { Neuron } from '../../../src/contract/neurons.ts'
import { pushedChanges } from '../../../src/git/pushed-objects.ts'
import { pushToMain } from '../../../src/kb/writing/push-main.ts'
import { readNeuron } from '../../../src/pages/read-neuron.ts'
import { candidateHeads } from '../../../src/queue/heads/candidate-refs.ts'
import type { Caller } from '../../../src/rules/access/caller.ts'
import { NativeWriter } from './native-writer.ts'
import { newTestBed, type TestBed } from './test-bed.ts'

const main = 'refs/heads/main'

export const seq = (number: number) => `handbook_${String(number).padStart(8, '0')}`

type Written = { title?: string; aliases?: string[]; tags?: string[]; audience?: string[]; edges?: [string, string][] }

/** The file of a Neuron, as a curator would write it. */
export function neuronText(number: number, fields: Written, body = ''): string {
  const { edges = [], ...rest } = fields
  const lines = Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  const edgeLines = edges.map(([type, target]) => `  - { type: ${type}, target: ${JSON.stringify(target)} }\n`)
  return `---\nseqId: ${seq(number)}\n${lines.join('')}${edges.length > 0 ? `edges:\n${edgeLines.join('')}` : ''}---\n${body}`
}

export type WrittenBed = TestBed & {
  /** One commit: text by path below `neurons/`, null to remove. */
  write: (files: Record<string, string | null>) => void
  native: NativeWriter
  /** The Neuron of that number, as a caller reads it; nothing where it is not found. */
  read: (number: number, as?: Caller, at?: string) => Promise<Neuron | undefined>
}

/** A test bed whose Neurons are written with git. */
export async function writtenBed(files: Record<string, string> = {}): Promise<WrittenBed> {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const write: WrittenBed['write'] = (changes) => {
    native.commit(main, new Map(Object.entries(changes).map(([path, text]) => [`neurons/${path}`, text])))
  }
  if (Object.keys(files).length > 0) write(files)
  const read: WrittenBed['read'] = async (number, as = bed.curator, at) => {
    try {
      return await readNeuron(bed.ctx, as, { kb: 'handbook', seqId: seq(number), ...(at && { at }) })
    } catch (error) {
      if (error instanceof GanglionError && error.code === 'not_found') return undefined
      throw error
    }
  }
  return { ...bed, write, native, read }
}

/** Approves a candidate by a push of its head. */
export async function pushCandidate({ ctx, curator, native }: WrittenBed, candidateId: string): Promise<void> {
  const kb = await ctx.kb(curator.tenantId, 'handbook')
  await candidateHeads(kb, ctx).follow()
  const [from = '', to = ''] = [main, `refs/candidates/${candidateId}/head`].map((ref) => native.git('rev-parse', ref))
  const actor = { id: 'git:curator-key', name: 'Cleo' }
  const changes = await pushedChanges(kb.repository, from, to)
  const origin = { door: 'main', by: 'curator-key' } as const
  await pushToMain(kb, { from, to, changes, approver: actor, proposer: actor, origin, behind: 'refuse' }, ctx.now)
}
