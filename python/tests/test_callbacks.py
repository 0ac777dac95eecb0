"""The callbacks for Keras and Hugging Face.

Their base classes are stand-ins with the names and the shape of those of Keras
(keras.callbacks.Callback: params, model, on_train_batch_end(batch, logs) ...) and
Hugging Face (transformers.TrainerCallback: on_log(args, state, control, logs=None,
**kwargs) ...); the packages themselves are not needed here.
"""
import textwrap

from case import Case

KERAS = """
import sys, types
class Callback:
    def __init__(self):
        self.params, self.model = None, None
    def set_params(self, params): self.params = params
    def set_model(self, model): self.model = model
    def on_train_begin(self, logs=None): pass
    def on_train_end(self, logs=None): pass
    def on_epoch_begin(self, epoch, logs=None): pass
    def on_epoch_end(self, epoch, logs=None): pass
    def on_train_batch_begin(self, batch, logs=None): pass
    def on_train_batch_end(self, batch, logs=None): pass
class Model:
    stop_training = False
def fit(callback, epochs, steps, each=lambda: None, known=True):
    model = Model()
    callback.set_model(model)
    callback.set_params({"verbose": 1, "epochs": epochs, "steps": steps if known else None})
    callback.on_train_begin()
    for epoch in range(epochs):
        callback.on_epoch_begin(epoch)
        for batch in range(steps):
            callback.on_train_batch_begin(batch)
            each()
            callback.on_train_batch_end(batch, {"loss": 1.0 / (1 + epoch + batch), "accuracy": 0.5})
            if model.stop_training:
                break
        callback.on_epoch_end(epoch, {"loss": 0.5, "val_loss": 0.25})
        if model.stop_training:
            break
    callback.on_train_end()
    return model
keras, callbacks = types.ModuleType("keras"), types.ModuleType("keras.callbacks")
keras.callbacks, callbacks.Callback = callbacks, Callback
sys.modules["keras"], sys.modules["keras.callbacks"] = keras, callbacks
"""

TRANSFORMERS = """
import sys, types
class TrainerCallback:
    def on_train_begin(self, args, state, control, **kwargs): pass
    def on_step_end(self, args, state, control, **kwargs): pass
    def on_log(self, args, state, control, **kwargs): pass
    def on_train_end(self, args, state, control, **kwargs): pass
transformers = types.ModuleType("transformers")
transformers.TrainerCallback = TrainerCallback
sys.modules["transformers"] = transformers
args = types.SimpleNamespace(num_train_epochs=3.0)
state = types.SimpleNamespace(global_step=0, max_steps=30, epoch=0.0, is_world_process_zero=True)
control = types.SimpleNamespace(should_save=False, should_training_stop=False)
"""


class Callbacks(Case):
    def test_import_works_without_the_packages(self):
        self.run_program("""
            import sys
            sys.modules["keras"] = sys.modules["tensorflow"] = sys.modules["transformers"] = None
            from trainyard import *
            import trainyard
            for name in ("KerasCallback", "HuggingFaceCallback"):
                try:
                    getattr(trainyard, name)
                    raise SystemExit(1)
                except ImportError:
                    pass
            try:
                trainyard.nonsense
                raise SystemExit(1)
            except AttributeError:
                pass
        """)

    def test_keras(self):
        self.run_program(KERAS + textwrap.dedent("""
            import trainyard
            callback = trainyard.KerasCallback()
            assert isinstance(callback, Callback) and trainyard.KerasCallback is type(callback)
            fit(callback, epochs=2, steps=3)
        """))
        self.assertEqual(self.merged(), {"step": 6, "total": 6, "epoch": 2, "epochs": 2,
                                         "loss": 0.5, "accuracy": 0.5, "val_loss": 0.25})

    def test_keras_without_a_length(self):
        self.run_program(KERAS + textwrap.dedent("""
            import trainyard
            fit(trainyard.KerasCallback(), epochs=2, steps=3, known=False)
        """))
        self.assertEqual(self.merged()["step"], 2)
        self.assertEqual(self.merged()["total"], 2)

    def test_keras_checkpoint(self):
        out, _ = self.run_program(KERAS + textwrap.dedent("""
            import os, signal, trainyard
            count = [0]
            def each():
                count[0] += 1
                if count[0] == 2:
                    os.kill(os.getpid(), signal.SIGTERM)
            model = fit(trainyard.KerasCallback(save=lambda m: print("saved")), 5, 5, each)
            print(model.stop_training, count[0])
        """))
        self.assertEqual(out, "saved\nTrue 2\n")

    def test_huggingface(self):
        out, _ = self.run_program(TRANSFORMERS + textwrap.dedent("""
            import os, signal, trainyard
            callback = trainyard.HuggingFaceCallback()
            callback.on_train_begin(args, state, control)
            for step in range(1, 11):
                state.global_step, state.epoch = step, step / 10
                callback.on_step_end(args, state, control)
            callback.on_log(args, state, control, logs={"loss": 0.5, "learning_rate": 5e-5,
                            "epoch": 1.0, "note": "text", "eval_f1": 0.75}, model=None)
            trainyard.flush()
            print(control.should_save, control.should_training_stop)
            os.kill(os.getpid(), signal.SIGTERM)
            print(callback.on_step_end(args, state, control) is control)
            print(control.should_save, control.should_training_stop)
            state.is_world_process_zero, state.global_step = False, 99
            callback.on_train_end(args, state, control)
        """))
        self.assertEqual(out, "False False\nTrue\nTrue True\n")
        self.assertEqual(self.merged(), {"step": 10, "total": 30, "epoch": 1.0, "epochs": 3,
                                         "loss": 0.5, "learning_rate": 5e-5, "eval_f1": 0.75})
