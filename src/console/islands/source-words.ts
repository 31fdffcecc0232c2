export type StatusWords = { label: string; tone: '' | 'good' | 'warn' | 'bad' }

/** An event of an ingest. */
export type IngestNews = { kind: string; status?: string; stage?: string; done?: number; total?: number }

const ofStatus: Readonly<Record<string, StatusWords>> = {
  pending: { label: 'Waiting to be read', tone: '' },
  ready: { label: 'Waiting to be made into pages', tone: '' },
  processing: { label: 'Being read', tone: 'warn' },
  success: { label: 'Done', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
}

const stages: Readonly<Record<string, string>> = {
  extracting: 'Reading the file',
  compiling: 'Making pages',
  committing: 'Saving pages',
}

export function statusWords(status: string): StatusWords {
  return ofStatus[status] ?? { label: status, tone: '' }
}

/** Returns the state of a Source after an event; undefined if the event does not change it. */
export function newsWords({ kind, status, stage, done = 0, total = 0 }: IngestNews): StatusWords | undefined {
  if (kind === 'ingest.progress') {
    const share = total > 0 ? ` (${Math.min(100, Math.floor((100 * done) / total))} %)` : ''
    return { label: `${stages[stage ?? ''] ?? 'Being read'}${share}`, tone: 'warn' }
  }
  return status === undefined ? undefined : statusWords(status)
}
