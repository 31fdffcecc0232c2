import { SourceAnswer, SourceDetail } from '../contract/documents.ts'
import type { Source as StoredSource } from '../state/sources/source.ts'

/** A Source as the API shows it. */
export function toSourceAnswer(source: StoredSource): SourceAnswer {
  return SourceAnswer.parse(view(source))
}

/** A Source as the API shows it to curators. */
export function toSourceDetail(source: StoredSource): SourceDetail {
  return SourceDetail.parse(view(source))
}

function view({ kbId, warnings, ...source }: StoredSource) {
  return { ...source, ...(warnings.length === 0 ? {} : { warnings }), knowledgeBaseId: kbId, kind: 'source' }
}
