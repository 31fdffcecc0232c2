import type { Oid } from '../../git/objects/object.ts'
import type { Repository } from '../../git/repository.ts'
import { chunksOf } from '../../kb/follow/followed-kb.ts'
import { parseSeqFloor, seqFloorPath } from '../../kb/refs/kb-refs.ts'
import { CandidateFileError, parseCandidate } from '../../markdown/file/candidate-file.ts'
import { candidatePath } from '../../rules/candidates/candidate.ts'
import { candidateBelongsTo } from '../../rules/candidates/candidate-id.ts'
import { oneLine } from '../../rules/text/lines.ts'

/** Returns the candidates on the queue, damaged ones included, and the problems of its files. @throws {GitError} */
export async function verifyQueue(
  repository: Repository,
  kbId: string,
  head: Oid | undefined,
): Promise<{ candidateIds: Set<string>; wrong: string[] }> {
  const candidateIds = new Set<string>()
  const wrong: string[] = []
  const tree = head === undefined ? undefined : await repository.treeOf(head)
  for await (const files of chunksOf(repository.diffTrees(undefined, tree), () => 1)) {
    const texts = await Promise.all(files.map(({ after = '' }) => repository.readTextOnce(after)))
    for (const [index, { path }] of files.entries()) {
      const id = path.slice(path.lastIndexOf('/') + 1, -'.md'.length)
      if (path === candidatePath(id)) candidateIds.add(id)
      const reason = problemWith(path, texts[index] ?? '', kbId)
      if (reason !== undefined) wrong.push(`${oneLine(path, 200)} on the queue ${reason}`)
    }
  }
  return { candidateIds, wrong }
}

function problemWith(path: string, text: string, kbId: string): string | undefined {
  if (path === seqFloorPath) return parseSeqFloor(text) === undefined ? 'holds no number' : undefined
  try {
    const { id } = parseCandidate(text)
    if (path !== candidatePath(id)) return `holds the candidate ${oneLine(id, 100)}, whose place is elsewhere`
    return candidateBelongsTo(id, kbId) ? undefined : 'is named like a candidate of another knowledge base'
  } catch (error) {
    if (error instanceof CandidateFileError) return `cannot be read: ${oneLine(error.message, 300)}`
    throw error
  }
}
