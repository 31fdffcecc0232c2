import { expect } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { Deployment } from './deployment.ts'
import type { Access } from './populate.ts'

/** Pages that tell of the machine, and forms that begin with a fresh id. */
const ofThisMachine =
  /^\/(settings\/health$|sign-out$|docs|assets\/|git\/|.*\/(new|edit|remove|rename|archive|delete|feedback)$)/
const maxPages = 200
/** Parts of a page that differ each time it is shown. */
const changing = /nonce-[\w+/=-]+|nonce="[^"]*"|name="_csrf" value="[^"]*"/g

/**
 * Every answer that a server gives, as text by who asked for which address: the API to keys of each role, by all ids that its lists name,
 * and the console to a person, by all links of its pages.
 */
export async function crawl({ server }: Deployment, { keys, cookie, kbs }: Access): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  const get = async (who: string, url: string, headers: Record<string, string>) => {
    const { statusCode, headers: told, rawPayload } = await server.inject({ url, headers })
    const text = rawPayload.toString('latin1').replace(changing, '')
    const { etag, 'content-type': type, location } = told
    answers.set(`${who} ${url}`, JSON.stringify({ statusCode, etag, type, location, text }))
    return text
  }
  for (const [role, token] of Object.entries(keys)) {
    await crawlApi((url) => get(role, url, { authorization: `Bearer ${token}` }), kbs)
  }
  await eventually(async () => {
    const { body } = await server.inject({ url: '/', headers: { cookie } })
    expect(body).not.toContain('counting…')
  })
  await crawlPages((url) => get('person', url, { cookie }))
  return answers
}

async function crawlApi(get: (url: string) => Promise<string>, kbs: readonly string[]): Promise<void> {
  const api = '/api/v1'
  await get(`${api}/knowledge-bases`)
  await get(`${api}/search?q=page`)
  const listed: string[] = [await allPages(get, `${api}/queue/candidates?limit=3`)]
  for (const kb of kbs) {
    const base = `${api}/knowledge-bases/${kb}`
    listed.push(await allPages(get, `${base}/neurons?limit=2`), await allPages(get, `${base}/documents?limit=2`))
    for (const path of ['graph', 'llms.txt', 'search?q=page+OR+lead+OR+text&facets=true', 'files/kb.yaml']) {
      await get(`${base}/${path}`)
    }
    for (const seqId of idsIn(listed, /"seqId":"(\w+)"/g)) {
      const page: { commit?: string } = JSON.parse(await get(`${api}/neurons/${kb}/${seqId}`))
      if (page.commit !== undefined) await get(`${api}/neurons/${kb}/${seqId}?at=${page.commit}`)
      await get(`${base}/graph?around=${seqId}&depth=2`)
    }
  }
  for (const id of idsIn(listed, /"candidateId":"([\w-]+)"/g)) await get(`${api}/queue/candidates/${id}`)
  for (const id of idsIn(listed, /"id":"([\w-]+)"/g)) {
    await get(`${api}/documents/${id}`)
    await get(`${api}/documents/${id}/content`)
  }
}

/** The answers of a list, to its end. */
async function allPages(get: (url: string) => Promise<string>, url: string): Promise<string> {
  let all = ''
  for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
    const page: string = await get(cursor === '' ? url : `${url}&cursor=${cursor}`)
    cursor = (JSON.parse(page) as { nextCursor?: string | null }).nextCursor
    all += page
  }
  return all
}

function idsIn(texts: readonly string[], pattern: RegExp): Set<string> {
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, id = '']) => id)))
}

async function crawlPages(get: (url: string) => Promise<string>): Promise<void> {
  const waiting = ['/', '/account', '/activity', '/queue?status=all', '/palette', '/settings/audit']
  const seen = new Set(waiting)
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    const page = await get(url)
    // Queries are ways to show the same, without end.
    for (const [, link = ''] of page.matchAll(/href="(\/[^"#?]*)/g)) {
      if (seen.has(link) || ofThisMachine.test(link)) continue
      seen.add(link)
      waiting.push(link)
    }
    if (seen.size > maxPages) throw new Error(`There is no end to the pages: ${[...seen].slice(-9).join(' ')}`)
  }
}
