import { maxTestFileBytes } from '../../contract/answer-tests.ts'
import { isTestPath, parseTestFile } from '../../markdown/file/test-file.ts'
import { checkContent, hasCheckedContent } from '../../rules/check/check-content.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'

/** Whether what a file holds matters that is no page. */
export function isReadByCheck(file: { path: string; size: number }): boolean {
  return hasCheckedContent(file) || (isTestPath(file.path) && file.size <= maxTestFileBytes)
}

/** What is wrong with the text of a file that is no page. */
export function checkOtherFile(path: string, text: string): NonNullable<CheckedFile['findings']> {
  return [...checkContent(path, text), ...(isTestPath(path) ? parseTestFile(text).findings : [])]
}
