import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion, GanglionError, type Revision } from '#client'
import { CandidateVersion, maxContentBytes, RevisionResults } from '../../contract/candidates.ts'
import { type ApiServer, parseInput } from '../client/api-server.ts'
import { readAnswer, serverProblem } from '../client/server-problem.ts'
import { askServer, type CommandAnswer } from '../command.ts'
import { argument, option } from '../options.ts'
import { CandidateName, readInput } from './review.ts'

const name = 'its id, or refs/candidates/<id>/head'
const Version = CandidateVersion.in.shape
const Revised = z.object({
  candidate: argument(CandidateName, name),
  file: argument(z.string(), 'the whole new text, in Markdown; - reads standard input'),
  title: option(Version.title, '<text>', 'its new title (default: the one that it has)'),
  read: option(
    z.coerce.number().int('must be a number').min(1).optional(),
    '<version>',
    'the version that was read; refused if there is another by now',
  ),
})
const sentences = { not_found: () => 'There is no such candidate that this key may change.' }
const Withdrawn = z.object({ candidates: argument(z.array(CandidateName).min(1).max(100), name, '...') })

export function addCandidateCommands(program: Command): void {
  const candidate = program
    .command('candidate')
    .description('change or withdraw pending candidates that a key sent, through the API of a running server')
  const revise = candidate.command('revise').description('make the next version of a candidate')
  const key = "the API key that sent it, or a curator's"
  const example = 'ganglion candidate revise "$ID" vip.md --read 1'
  askServer(revise, Revised, { key, example }, async ({ candidate, file, title, read }, server) => {
    const text = file === '-' ? await readInput(maxContentBytes) : await readFile(file, 'utf8')
    const content = parseInput(Version.content, text, file)
    return send(server, [
      { candidateId: candidate, content, ...(title !== undefined && { title }), ...(read && { version: read }) },
    ])
  })
  const withdraw = candidate.command('withdraw').description('withdraw candidates, up to 100 at once')
  const ended = 'ganglion candidate withdraw "$FIRST" "$SECOND"'
  askServer(withdraw, Withdrawn, { key, example: ended }, ({ candidates }, server) =>
    send(
      server,
      candidates.map((candidateId) => ({ candidateId, withdraw: true })),
    ),
  )
}

async function send(server: ApiServer, revisions: readonly Revision[]): Promise<CommandAnswer> {
  const { candidates } = new Ganglion({ ...server, timeout: 30_000, retries: 0 })
  const answer = await readAnswer(candidates.reviseAll(revisions), RevisionResults, server)
  const lines = answer.results.map(({ status, candidate, error }, at) => {
    const id = revisions[at]?.candidateId
    const code = typeof error?.error === 'string' ? error.error : 'malformed_request'
    const refused = new GanglionError({ status, code, body: error ?? {}, headers: new Headers() })
    if (candidate === undefined) return `${id}: ${serverProblem(refused, server, sentences)}`
    return `${revisions[at]?.withdraw ? 'Withdrew' : 'Revised'} ${id}, which is ${candidate.status}.`
  })
  return { json: answer, text: lines.join('\n'), isNegative: answer.results.some(({ error }) => error !== undefined) }
}
