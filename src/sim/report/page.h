/* The page of the HTML report: src/web/report/page.html with its style and its
 * scripts inside, made into a string by tools/embed when the project is built.
 * @TITLE@ and @DATA@, in this order, mark what is filled in. */
#ifndef SIM_REPORT_PAGE_H
#define SIM_REPORT_PAGE_H

extern const char report_page[];

#endif
