import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Ganglion } from '@ganglion/client'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { follow: { type: 'boolean' } } })
const folder = positionals[0] ?? join(import.meta.dirname, 'faqs')
const { GANGLION_URL: url = 'http://127.0.0.1:4870', GANGLION_KEY: key = '', GANGLION_KB: slug = 'demo' } = process.env
const ganglion = new Ganglion({ url, key })
const kb = ganglion.kb(slug)

/** @typedef {import('@ganglion/client').Schemas['SentCandidate']} Sent */

/** Reads what this key has sent: for each title the last candidate, and the last one that was approved. */
async function readSent() {
  /** @type {Map<string, { last: Sent, approved?: Sent }>} */
  const sent = new Map()
  // The newest come first.
  for await (const candidate of ganglion.me.candidates({ kb: slug })) {
    const known = sent.get(candidate.title) ?? { last: candidate }
    if (candidate.status === 'approved') known.approved ??= candidate
    sent.set(candidate.title, known)
  }
  return sent
}

/** Reads a page: its first heading and the text below. @param {string} file */
async function readFaq(file) {
  const path = join(folder, file)
  const [heading = '', ...lines] = (await readFile(path, 'utf8')).split('\n')
  const { mtime } = await stat(path)
  return { title: heading.replace(/^#\s*/, '').trim(), content: lines.join('\n').trim(), mtime }
}

/**
 * Sends a new page, and a correction of a changed one.
 * @param {{ title: string, content: string, mtime: Date }} page @param {{ last: Sent, approved?: Sent } | undefined} sent
 */
async function submit({ title, content, mtime }, sent) {
  const faq = { title, content, confidence: 0.7 }
  // A pending text waits for its curator, and a dismissed one stays dismissed until the file changes.
  if (sent?.last.status === 'pending') return
  if (sent?.last.status === 'dismissed' && mtime <= new Date(sent.last.createdAt)) return
  const { seqId, commit } = sent?.approved ?? {}
  if (seqId === undefined || commit === undefined) {
    await kb.candidates.submit({ ...faq, kind: 'external-feed', metadata: { tags: ['faq'] } })
  } else {
    // The version that this file made is the base, so that what curators have changed since is kept.
    const page = await kb.neurons.get(seqId, { at: commit })
    if (page.content.trim() !== content) await kb.neurons.correct(page, faq)
  }
}

const before = await readSent()
const files = (await readdir(folder)).filter((file) => file.endsWith('.md')).sort()
const faqs = await Promise.all(files.map(readFaq))
for (const faq of faqs) await submit(faq, before.get(faq.title))

for (let told = ''; ; await delay(2_000)) {
  const sent = await readSent()
  const fates = faqs.map(({ title }) => ({ title, ...sent.get(title)?.last }))
  const lines = fates.map(({ title, status, seqId = '-', reason = '-' }) => [status, seqId, title, reason].join('\t'))
  if (lines.join() !== told) console.log(lines.join('\n'))
  told = lines.join()
  if (!values.follow || fates.every(({ status }) => status !== 'pending')) break
}
