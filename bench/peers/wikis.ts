import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openContext } from '../../src/app/open-context.ts'
import type { ApiKeyRecord } from '../../src/state/accounts/api-keys.ts'
import { signIn } from '../../test/support/person.ts'
import type { Markup, Page } from './pages.ts'

export type Sent = { path: string; headers?: Record<string, string>; body?: string }
/** Sends a request to the product's server: a POST if there is a body. */
export type Send = (sent: Sent) => Promise<{ status: number; body: string }>

/** A product as a user runs it: how it is loaded and served, and the requests of each job. */
export type Wiki = {
  name: string
  /** Debian packages of the product, and the files of them that are used. */
  packages: string
  needs: readonly string[]
  markup: Markup
  /** Name and text of the page's file in the folder `pages`, which the script `load` loads. Scripts run in the work folder. */
  file: (page: Page, text: string) => [name: string, text: string]
  prepare: string
  load: string
  /** Called between the loading and the first start of the server. */
  afterLoad?: () => Promise<void>
  serve: readonly [command: string, ...args: string[]]
  env?: Record<string, string>
  /** Called after each start of the server. */
  logIn?: (send: Send) => Promise<void>
  html: (page: Page) => Sent
  data: (page: Page) => Sent
  /** Returns true if the edit was saved. */
  save: (send: Send, page: Page, text: string) => Promise<boolean>
  search: (words: string) => Sent
  /** Returns the titles or ids that an answer to `search` holds. */
  found: (body: string) => (string | undefined)[]
  searchHtml: (words: string) => Sent
  backlinks?: (page: Page) => Sent
  history: (page: Page) => Sent
}

const main = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const json = { 'content-type': 'application/json' }
const enc = encodeURIComponent
const markdown = { heading: (text: string) => `## ${text}`, item: (text: string) => `- ${text}` }

/** `ganglion serve` with its defaults, but for the rate limits. */
export function ganglion(folder: string, port: number): Wiki {
  const program = `'${process.execPath}' '${main}'`
  const api = { authorization: '' }
  const browser = { cookie: '' }
  const seqIds = new Map<string, string>()
  const neuron = ({ title }: Page) => ({ path: `/api/v1/neurons/bench/${seqIds.get(title)}`, headers: api })
  const page = ({ title }: Page, more = '') => ({
    path: `/kb/bench/neurons/${seqIds.get(title)}${more}`,
    headers: browser,
  })
  return {
    ...{ name: 'Ganglion', packages: '', needs: [main] },
    markup: { ...markdown, link: (title) => `[[${title}]]` },
    file: ({ title }, text) => [`${title}.md`, `---\ntitle: ${title}\n---\n\n${text}`],
    prepare: `${program} kb create bench --tenant bench --data data`,
    load: `${program} import pages --tenant bench --kb bench --data data`,
    async afterLoad() {
      const ctx = await openContext({ dataDir: join(folder, 'data') })
      const { id: tenantId } = await ctx.tenants.ensure('bench', ctx.now())
      const key: ApiKeyRecord = { tenantId, name: 'Bench', role: 'curator', connectors: [], expiresAt: null }
      api.authorization = `Bearer ${(await ctx.apiKeys.create(key, ctx.now())).token}`
      browser.cookie = (await signIn(ctx, 'bench', 'curator')).headers.cookie
      const { projection } = await ctx.kb(tenantId, 'bench')
      const rows = projection.read.all`SELECT title, seq_id FROM neurons`
      for (const { title, seq_id } of rows) seqIds.set(String(title), String(seq_id))
      await ctx.close()
    },
    serve: [process.execPath, main, 'serve', '--data', 'data', '--port', String(port)],
    env: { GANGLION_RATE_READS: '1000000', GANGLION_RATE_WRITES: '1000000' },
    html: page,
    data: neuron,
    async save(send, { title }, content) {
      const metadata = { targetNeuron: seqIds.get(title) }
      const fields = { knowledgeBaseId: 'bench', kind: 'user-correction', title, content, confidence: 1, metadata }
      const headers = { ...api, ...json }
      const { status, body } = await send({
        path: '/api/v1/queue/candidates',
        headers,
        body: JSON.stringify(fields),
      })
      return status === 201 && JSON.parse(body).status === 'approved'
    },
    search: (words) => ({
      path: `/api/v1/knowledge-bases/bench/search?limit=100&q=${enc(words)}`,
      headers: api,
    }),
    found: (body) => JSON.parse(body).documents.map(({ title }: { title: string }) => title),
    searchHtml: (words) => ({ path: `/kb/bench/search?q=${enc(words)}`, headers: browser }),
    backlinks: neuron,
    history: (of) => page(of, '/history'),
  }
}

/** DokuWiki on PHP's own server, configured in the work folder: the package's own configuration and pages stay as they are. */
export function dokuwiki(folder: string, port: number): Wiki {
  const root = '/usr/share/dokuwiki'
  const options = ['-d', 'opcache.enable_cli=1', '-d', `auto_prepend_file=${folder}/prepend.php`]
  const idOf = ({ title }: Page) => title.toLowerCase().replaceAll(' ', '_')
  const page = (of: Page, more = '') => ({ path: `/doku.php?id=${idOf(of)}${more}` })
  const call = (method: string, args: readonly string[], more = '') => {
    const params = args.map((arg) => `<param><value><string>${arg}</string></value></param>`).join('') + more
    const body = `<methodCall><methodName>${method}</methodName><params>${params}</params></methodCall>`
    return { path: '/lib/exe/xmlrpc.php', headers: { 'content-type': 'text/xml' }, body }
  }
  const settings = { savedir: `${folder}/data`, useacl: 0, remote: 1, remoteuser: '' }
  const local = Object.entries(settings).map(([name, value]) => `$conf['${name}'] = ${JSON.stringify(value)};\n`)
  const withTitle = (title: string, text: string) => `====== ${title} ======\n\n${text}`
  return {
    ...{ name: 'DokuWiki', packages: 'dokuwiki php-cli php-xml', needs: [`${root}/doku.php`, '/usr/bin/php'] },
    markup: {
      heading: (text) => `===== ${text} =====`,
      item: (text) => `  * ${text}`,
      link: (title) => `[[${title}]]`,
    },
    file: (of, text) => [`${idOf(of)}.txt`, withTitle(of.title, text)],
    prepare: `
      cp -rL /etc/dokuwiki conf 2>>log
      mkdir data; cd data; mkdir attic cache index locks log media media_attic media_meta meta pages tmp; cd ..
      printf '%s' "$LOCAL" > conf/local.php
      echo "<?php define('DOKU_CONF', '$PWD/conf/');" > prepend.php`,
    load: `cp pages/* data/pages/ && php ${options.join(' ')} ${root}/bin/indexer.php -q`,
    serve: ['php', ...options, '-t', root, '-S', `127.0.0.1:${port}`],
    env: { PHP_CLI_SERVER_WORKERS: '4', LOCAL: `<?php\n${local.join('')}` },
    html: page,
    data: (of) => page(of, '&do=export_raw'),
    async save(send, of, text) {
      const noOptions = '<param><value><struct></struct></value></param>'
      const { body } = await send(call('wiki.putPage', [idOf(of), withTitle(of.title, text)], noOptions))
      return body.includes('<boolean>1</boolean>')
    },
    search: (words) => call('dokuwiki.search', [words]),
    found: (body) => [...body.matchAll(/<name>id<\/name>\s*<value><string>([^<]*)/g)].map(([, id]) => id),
    searchHtml: (words) => ({ path: `/doku.php?do=search&q=${enc(words)}` }),
    backlinks: (of) => call('wiki.getBackLinks', [idOf(of)]),
    history: (of) => page(of, '&do=revisions'),
  }
}

/** Wiki pages of Fossil, in Markdown. The pages and the search index are in one SQLite file. */
export function fossil(folder: string, port: number): Wiki {
  const page = (route: string, { title }: Page) => ({ path: `/${route}?name=${enc(title)}` })
  const search = (words: string) => ({ path: `/search?y=w&s=${enc(words)}` })
  const headers = { ...json, referer: `http://127.0.0.1:${port}/wiki` }
  const post = async (send: Send, path: string, fields: object) =>
    JSON.parse((await send({ path, headers, body: JSON.stringify(fields) })).body)
  let authToken = ''
  return {
    ...{ name: 'Fossil', packages: 'fossil', needs: ['/usr/bin/fossil'] },
    markup: { ...markdown, link: (title) => `[${title}](${enc(title)})` },
    file: ({ title }, text) => [`${title}.md`, text],
    prepare: 'fossil init --admin-user bench f.fossil && fossil user password bench bench -R f.fossil',
    load: `
      for f in pages/*; do n=\${f##*/}; fossil wiki create "\${n%.md}" "$f" -M markdown -R f.fossil || exit 1; done
      for words in 'index on' 'enable w' reindex; do fossil fts-config $words -R f.fossil || exit 1; done`,
    serve: ['fossil', 'server', '--localhost', '--port', String(port), 'f.fossil'],
    env: { HOME: folder, USER: 'bench' },
    async logIn(send) {
      const answer = await post(send, '/json/login', { payload: { name: 'bench', password: 'bench' } })
      authToken = answer.payload.authToken
    },
    html: (of) => page('wiki', of),
    data: (of) => page('json/wiki/get', of),
    async save(send, { title: name }, content) {
      const payload = { name, content, mimetype: 'text/x-markdown' }
      const answer = await post(send, '/json/wiki/save', { authToken, payload })
      return answer.payload !== undefined && answer.resultCode === undefined
    },
    search,
    found: (body) => [...body.matchAll(/<a href=['"]\/wiki\?name=([^'"&]+)/g)].map(([, name]) => decode(name)),
    searchHtml: search,
    history: (of) => page('whistory', of),
  }
}

/** gitit: pandoc's Markdown in a git repository. */
export function gitit(_folder: string, port: number): Wiki {
  const search = (words: string) => ({ path: `/_search?patterns=${enc(words)}` })
  const page = (route: string, { title }: Page) => ({ path: `/${route}${enc(title)}` })
  return {
    ...{ name: 'gitit', packages: 'gitit', needs: ['/usr/bin/gitit'] },
    markup: { ...markdown, link: (title) => `[${title}]()` },
    file: ({ title }, text) => [`${title}.page`, text],
    prepare: `
      printf 'address: 127.0.0.1\\nport: ${port}\\nrequire-authentication: none\\n' > gitit.conf
      git init --quiet wikidata`,
    load: 'cp pages/* wikidata/ && cd wikidata && git add . && git -c user.name=b -c user.email=b@b commit --quiet -m Load',
    serve: ['gitit', '-f', 'gitit.conf'],
    html: (of) => page('', of),
    data: (of) => page('_showraw/', of),
    async save(send, of, editedText) {
      const { body } = await send(page('_edit/', of))
      const [field = ''] = /<input[^>]*name="sha1"[^>]*>/.exec(body) ?? []
      const [, sha1 = ''] = /value="([^"]*)"/.exec(field) ?? []
      const fields = new URLSearchParams({ editedText, logMsg: 'edit', sha1, update: 'Save' })
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const { status } = await send({ ...page('', of), headers, body: fields.toString() })
      return status >= 300 && status < 400
    },
    search,
    found: (body) => [...body.matchAll(/<li[^>]*>\s*<a href="\/([^"]+)"/g)].map(([, path]) => decode(path)),
    searchHtml: search,
    history: (of) => page('_history/', of),
  }
}

function decode(text = ''): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
