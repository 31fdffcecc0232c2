import { describe, expect, test } from 'vitest'
import { checkContent, checkPageText, hasCheckedContent } from '../../../src/rules/check/check-content.ts'

const rules = (findings: readonly { line: number; rule: string }[]) =>
  findings.map(({ line, rule }) => `${line} ${rule}`)
const attributes = (text: string) => checkContent('neurons/.gitattributes', text)

describe('.gitattributes', () => {
  test.each([
    '*.md text eol=lf\n*.png binary -text !diff\n',
    '# a comment\n\n*.md diff=markdown merge=union linguist-documentation gitlab-language=x\r\n',
    '"a b.md" whitespace=trailing-space export-ignore\n[attr]page text eol=lf\n*.md page\n',
    '*.bin -delta encoding=utf-8 conflict-marker-size=12 export-subst\n*.md\n',
  ])('that says how text is treated is fine: %s', (text) => {
    expect(attributes(text)).toEqual([])
  })

  test.each([
    ['*.psd filter=lfs diff=lfs merge=lfs -text', ['1 git-attributes']],
    ['*.md text\n"a b.png" filter=lfs', ['2 git-attributes']],
    ['*.md -filter\n*.md filter', ['1 git-attributes', '2 git-attributes']],
    ['[attr]big filter=lfs\n*.png big', ['1 git-attributes']],
    ['*.txt working-tree-encoding=UTF-16 ident', ['1 git-attributes', '1 git-attributes']],
    ['*.png made-up', ['1 git-attributes']],
  ])('that would change files in a clone is refused: %s', (text, expected) => {
    expect(rules(attributes(text))).toEqual(expected)
  })

  test('counts in every folder, and no other file does', () => {
    expect(checkContent('.gitattributes', '* filter=lfs\n')).toHaveLength(1)
    expect(checkContent('neurons/gitattributes', '* filter=lfs\n')).toEqual([])
    expect(hasCheckedContent({ path: 'a/.gitattributes', size: 2_000_000 })).toBe(true)
  })
})

describe('pointers of Git LFS', () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`

  test('are told as such, in a page too', () => {
    const [finding] = checkContent('assets/plan.pdf', pointer)
    expect(finding).toMatchObject({ rule: 'lfs-pointer', severity: 'error', line: 1 })
    expect(finding?.message).toMatch(/Git LFS pointer.*git lfs untrack/)
    expect(rules(checkPageText(pointer))).toEqual(['1 lfs-pointer'])
  })

  test('are not what only speaks of them', () => {
    expect(checkContent('assets/a.txt', `About LFS:\n${pointer}`)).toEqual([])
    expect(checkContent('assets/a.txt', 'version https://git-lfs.github.com/spec/v1\n')).toEqual([])
    expect(hasCheckedContent({ path: 'assets/a.bin', size: 5000 })).toBe(false)
  })
})

describe('conflicts that are left in a page', () => {
  const conflict = '<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> 0a1b2c3 (Edit)\n'

  test.each([
    [conflict, ['1 conflict-marker']],
    [`---\ntitle: A\n${conflict}---\n\nText.\n`, ['3 conflict-marker']],
    [conflict.replaceAll('\n', '\r\n'), ['1 conflict-marker']],
    ['<<<<<<< HEAD\nOurs.\n||||||| base\nBase.\n=======\nTheirs.\n>>>>>>> b\n', ['1 conflict-marker']],
    ['Half solved.\n=======\nTheirs.\n>>>>>>> b\n', ['2 conflict-marker']],
    ['Half solved.\n<<<<<<< HEAD\nOurs.\n=======\n', ['2 conflict-marker']],
    [`\`\`\`\ncode\n\`\`\`\n\n${conflict}`, ['5 conflict-marker']],
  ])('are found: %j', (text, expected) => {
    expect(rules(checkPageText(text))).toEqual(expected)
  })

  test.each([
    'A heading\n=======\n\nAnother\n=======\n',
    '>>>>>>> quoted seven times\n\nHeading\n=======\n',
    `\`\`\`diff\n${conflict}\`\`\`\n`,
    `~~~~\n~~~\n${conflict}~~~~\n`,
    `- a list\n\n  \`\`\`\n${conflict}  \`\`\`\n`,
    conflict.replace(/^/gm, '    '),
    '<<<<<<<< eight\n=========\n>>>>>>>> eight\n',
    'a <<<<<<< b\nc ======= d\n',
  ])('are not what looks like them: %j', (text) => {
    expect(checkPageText(text)).toEqual([])
  })
})
