/* Tests of the names that jobs get from their commands. */
#include "support/test.h"
#include "wire/spec_name.h"

static const struct {
    const char *command[12], *name;
} cases[] = {
    {{"python3", "train.py"}, "train"},
    {{"python3", "-u", "/home/me/train.py", "--lr", "0.1"}, "train"},
    {{"python3.11", "-m", "package.train"}, "train"},
    {{"python", "-m", "torch.distributed.run", "--nproc_per_node", "2", "main.py"}, "main"},
    {{"python", "-c", "import this"}, "python"},
    {{"torchrun", "--standalone", "--nproc-per-node", "2", "train.py", "--x", "y.py"}, "train"},
    {{"accelerate", "launch", "--num_processes", "2", "run.py"}, "run"},
    {{"mpirun", "-n", "4", "./solver"}, "solver"},
    {{"./train.sh"}, "train"},
    {{"bash", "train.sh", "5"}, "train"},
    {{"Rscript", "fit.R"}, "fit"},
    {{"java", "-Xmx4g", "-jar", "weka.jar", "x.jar"}, "weka"},
    {{"java", "-version"}, "java"},
    {{"uv", "run", "--with", "torch", "train.py"}, "train"},
    {{"conda", "run", "-n", "e", "python", "main.py"}, "main"},
    {{"poetry", "run", "python", "-m", "pkg.fit"}, "fit"},
    {{"conda", "install", "x"}, "conda"},
    {{"Rscript", "-e", "library(nnet)"}, "Rscript"},
    {{"sh", "-c", "cd /tmp; for f in a b; do echo $f; done"}, "echo"},
    {{"sh", "-c", "while :; do sleep 1; break; done"}, "sleep"},
    {{"sh", "-c", "cd /tmp"}, "cd"},
    {{"./word2vec", "-train", "text8"}, "word2vec"},
    {{"nice", "-n", "5", "python3", "train.py"}, "train"},
    {{"env", "A=1", "B=2", "python3", "train.py"}, "train"},
    {{"timeout", "-k", "5", "1h", "./fasttext"}, "fasttext"},
    {{"time", "make"}, "make"},
    {{"sleep", "5"}, "sleep"},
    {{"nice"}, "nice"},
    {{"sh", "-c", "make all"}, "make"},
    {{"sh", "-c", "  cd /data && OMP_NUM_THREADS=1 python3 train.py > log"}, "train"},
    {{"bash", "-lc", "set -e; source venv/bin/activate; exec python -u main.py"}, "main"},
    {{"sh", "-c", "for i in 1 2 3; do python3 train.py --seed $i; done"}, "train"},
    {{"sh", "-c", "for i in 1 2 3; do echo $i; sleep 1; done"}, "echo"},
    {{"sh", "-c", "while true; do ./step; done"}, "step"},
    {{"sh", "-c", "if [ -f x ]; then ./resume; else ./start; fi"}, "resume"},
    {{"sh", "-c", "# a comment\n(cd x; ./run 'a; b')"}, "run"},
    {{"sh", "-c", "sh -c \"python3 train.py\""}, "train"},
    {{"sh", "-c", "'./my program' x"}, "my"},
    {{"sh", "-c", "echo step 1"}, "echo"},
    {{"sh", "-c", "sleep 100"}, "sleep"},
    {{"sh", "-c", ""}, "sh"},
    {{"sh", "-c", ";;"}, "sh"},
    {{"sh", "-c", "A=1"}, "sh"},
    {{"sh"}, "sh"},
    {{"42"}, "job"},
    {{"sh", "-c", "42"}, "job"},
    {{"/opt/bin/größe"}, "gr----e"},
    {{"/"}, "-"},
    {{"train$x.py"}, "train-x"},
    {{".py"}, ".py"},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char name[SPEC_NAME_SIZE];
        struct spec_list command = {.at = (const char **)cases[i].command};
        while (command.n < COUNT_OF(cases[i].command) && command.at[command.n])
            command.n++;
        spec_name_derive(&command, name);
        if (strcmp(name, cases[i].name) != 0)
            fail_msg("case %zu: '%s' instead of '%s'", i, name, cases[i].name);
    }
}

/* More words, a longer name and more shells within shells than there is room for. */
static void test_bounds(void **state)
{
    (void)state;
    char name[SPEC_NAME_SIZE], word[400], text[4000] = "";
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    const char *long_word[] = {word};
    spec_name_derive(&(struct spec_list){long_word, 1}, name);
    assert_int_equal(strlen(name), SPEC_NAME_SIZE - 1);
    for (size_t i = 0; i < 1000; i++)
        strcat(text, "=1 ");
    const char *many[] = {"sh", "-c", text};
    spec_name_derive(&(struct spec_list){many, 3}, name);
    const char *nested[] = {"sh", "-c", "sh -c \"sh -c 'sh -c sh -c sh -c sh -c x'\""};
    spec_name_derive(&(struct spec_list){nested, 3}, name);
    assert_true(*name);
}

static const struct CMUnitTest tests[] = {TEST(test_names), TEST(test_bounds)};

int main(void)
{
    return RUN(tests);
}
