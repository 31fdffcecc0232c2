import { describe, expect, test } from 'vitest'
import { pathProblem } from '../../../src/rules/paths/portable-path.ts'
import { fileSlug, slugify, uniqueSlug } from '../../../src/rules/paths/slug.ts'
import { fc, runs } from '../../support/properties.ts'
import { hostileText } from '../hostile-text.ts'

describe('slugify', () => {
  test.each([
    ['VIP escalation policy', 'vip-escalation-policy'],
    ['  What is X?  (draft) ', 'what-is-x-draft'],
    ["Don't panic", 'dont-panic'],
    ['Straße, Ærø, Łódź, Þórr, cœur', 'strasse-aero-lodz-thorr-coeur'],
    ['Crème brûlée', 'creme-brulee'],
    ['ＦＵＬＬ ｗｉｄｔｈ ﬁle', 'full-width-file'],
    ['VIP 顧客', 'vip'],
    ['../x', 'x'],
    ['.git', 'git'],
    ['git~1', 'git-1'],
    ['CON', 'n-con'],
    ['nul', 'n-nul'],
    ['COM1', 'n-com1'],
    ['con.txt', 'con-txt'],
    ['a\u202egnp.exe', 'a-gnp-exe'],
    ['', 'untitled'],
    [' \n ', 'untitled'],
  ])('%j becomes %s', (title, slug) => {
    expect(slugify(title)).toBe(slug)
  })

  test.each([
    ['日本語のページ（案）', '日本語のページ-案'],
    ['Ｃ＋＋ 入門', 'c-入門'],
    ['한국어 문서'.normalize('NFD'), '한국어-문서'],
    ['Привет, мой Мир Ё', 'привет-мой-мир-ё'],
    ['مرحبا\u200f بالعالم!', 'مرحبا-بالعالم'],
    ['می\u200cخواهم', 'میخواهم'],
    ['हिन्दी पृष्ठ', 'हिन्दी-पृष्ठ'],
    ['Ελληνικά Œuvre', 'ελληνικά-oeuvre'],
    ['東京 ❤️ \u0301Łódź', '東京-lodz'],
    ['VIP policy', 'vip-policy'],
    ['🎉', 'n-614629'],
    ['知'.repeat(40), '知'.repeat(26)],
    [`${'知'.repeat(26)} 識`, '知'.repeat(26)],
  ])('a file for %j is named %s', (title, name) => {
    expect(fileSlug(title)).toBe(name)
    expect([name.normalize('NFC'), pathProblem(name)]).toEqual([name, undefined])
  })

  test('titles without Latin letters get stable slugs that differ', () => {
    const slugs = ['知識', '知恵', '🎉'.repeat(500), '🎉', '!!!', 'Привет'].map((title) => slugify(title))
    expect(new Set(slugs).size).toBe(slugs.length)
    for (const slug of slugs) expect(slug).toMatch(/^n-[0-9a-f]{6}$/)
    expect(slugify('知識')).toBe(slugs[0])
  })

  test('the same title in another Unicode normalisation has the same slug', () => {
    expect(slugify('が'.normalize('NFD'))).toBe(slugify('が'.normalize('NFC')))
  })

  test('a cut leaves no hyphen at the end and makes no reserved name', () => {
    expect(slugify(`${'a'.repeat(79)} b`)).toBe('a'.repeat(79))
    expect(slugify('nul-123456', 3)).toBe('n-n')
    expect(slugify('x'.repeat(500))).toHaveLength(80)
  })

  test('whatever the title, the slug is a safe file name within its bytes', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 8, max: 100 }), (title, max) => {
        const slug = slugify(title, max)
        expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
        expect(slug.length).toBeLessThanOrEqual(max)
        expect(pathProblem(slug)).toBeUndefined()
        expect(pathProblem(`${slug}.md`)).toBeUndefined()
        const name = fileSlug(title, max)
        expect([pathProblem(`${name}.md`), Buffer.byteLength(name) <= max]).toEqual([undefined, true])
        expect(pathProblem(`${fileSlug(`漢${title}й`, max)}.md`)).toBeUndefined()
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('uniqueSlug', () => {
  test('keeps a free slug, and numbers one that is taken', () => {
    const taken = new Set(['policy', 'policy-2'])
    expect(uniqueSlug('other', (slug) => taken.has(slug))).toBe('other')
    expect(uniqueSlug('policy', (slug) => taken.has(slug))).toBe('policy-3')
  })

  test('stays within its bytes', () => {
    const slug = `${'a'.repeat(77)}-bb`
    expect(uniqueSlug(slug, (other) => other === slug)).toBe(`${'a'.repeat(77)}-2`)
  })

  test('never gives the same slug twice', () => {
    const taken = new Set<string>()
    for (let n = 0; n < 120; n++) {
      const slug = uniqueSlug('abcdefgh', (other) => taken.has(other), 8)
      expect(slug.length).toBeLessThanOrEqual(8)
      taken.add(slug)
    }
    expect(taken.size).toBe(120)
  })
})
